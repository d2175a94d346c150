import numpy as np

from pcn.envs.crossroad.picture import HEADER, SIDE, CarInPicture, colour_of, picture
from pcn.envs.crossroad.simulation import Phase

PIXELS = 3


def pixel(drawn, x, y):
    """The colour at a place given in metres, y upwards."""
    return drawn[round((SIDE - y + HEADER) * PIXELS), round(x * PIXELS)].astype(int)


def test_a_car_is_drawn_where_it_is_in_the_colour_of_its_time():
    # Its front is at x = 50 and it heads east: its middle is 2.5 m behind.
    for time in (0, 30, 90):
        drawn = picture(
            [CarInPicture(50.0, 95.2, 90.0, time)], Phase.VERTICAL_GREEN, step=1, flow=0
        )
        np.testing.assert_allclose(pixel(drawn, 46.5, 95.2), colour_of(time), atol=25)
    empty = picture([], Phase.VERTICAL_GREEN, step=1, flow=0)
    red, green, blue = pixel(empty, 46.5, 95.2)
    assert max(red, green, blue) - min(red, green, blue) < 30  # asphalt


def test_the_lights_of_each_road_have_their_colour():
    def shown(phase):
        drawn = picture([], phase, step=1, flow=0)
        return [pixel(drawn, 92.8, 95.2), pixel(drawn, 101.6, 89.6)]

    def name(colour):
        red, green, _ = colour
        if red > 150 and green > 150:
            return "yellow"
        return "green" if green > red else "red"

    assert [name(colour) for colour in shown(Phase.HORIZONTAL_GREEN)] == ["green", "red"]
    assert [name(colour) for colour in shown(Phase.HORIZONTAL_YELLOW)] == ["yellow", "red"]
    assert [name(colour) for colour in shown(Phase.VERTICAL_GREEN)] == ["red", "green"]
    assert [name(colour) for colour in shown(Phase.VERTICAL_YELLOW)] == ["red", "yellow"]


def test_colours_go_from_blue_to_red():
    assert colour_of(0)[2] > colour_of(0)[0]
    assert colour_of(60)[0] > 2 * colour_of(60)[2]
    assert colour_of(60) == colour_of(100)
