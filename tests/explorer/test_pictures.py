"""Pictures of episodes: few, small, and the first and the last among them."""

import base64
import io

import numpy as np
from PIL import Image

from pcn.explorer.pictures import LONGEST_SIDE, MOST_FRAMES, Film, data_url, encoded


def film_of(num_steps):
    """A film whose picture after n steps is of the shade n."""
    shade = iter(range(num_steps + 2))
    drawn = []

    def render():
        drawn.append(next(shade))
        return np.full((20, 30, 3), drawn[-1] % 256, np.uint8)

    film = Film(render)
    for step in range(num_steps + 1):
        film.shoot(step)
    film.shoot(num_steps, last=True)
    return film


def opened(address):
    return Image.open(io.BytesIO(base64.b64decode(address.removeprefix("data:image/png;base64,"))))


def test_a_short_episode_has_a_picture_of_each_step():
    steps, frames = film_of(5).developed(10**6)
    assert steps == [0, 1, 2, 3, 4, 5]
    assert [opened(frame).convert("RGB").getpixel((3, 3))[0] for frame in frames] == steps


def test_a_long_episode_has_pictures_at_even_distances_and_at_its_end():
    steps, frames = film_of(1001).developed(10**9)
    assert len(frames) <= MOST_FRAMES + 1
    assert (steps[0], steps[-1]) == (0, 1001)
    assert set(np.diff(steps[:-1])) == {16}  # 1001 / 8 would still be more than 120


def test_a_size_thins_the_pictures_out_but_for_the_first_and_the_last():
    film = film_of(50)
    size = len(encoded(np.zeros((20, 30, 3), np.uint8)))
    steps, _ = film.developed(11 * size)
    assert steps == list(range(0, 51, 5))
    assert film.developed(0)[0] == [0, 50]


def test_large_pictures_are_reduced():
    image = opened(data_url(encoded(np.zeros((500, 1000, 3), np.uint8))))
    assert image.size == (LONGEST_SIDE, LONGEST_SIDE // 2)


def test_an_environment_that_draws_nothing_leaves_the_film_empty():
    film = Film(lambda: None)
    film.shoot(0)
    assert film.developed(10**6) is None
    assert film.problem.startswith("There is no picture: the environment draws no pictures")
