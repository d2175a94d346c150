"""Short names that installed packages bring: entry points of the group `pcn.environments`."""

from importlib.metadata import entry_points

GROUP = "pcn.environments"


def installed_names() -> dict[str, str]:
    """Short name -> `module:Name`, as the packages that are installed declare them.

    Of two packages with one name, the first one that Python finds counts.
    """
    found: dict[str, str] = {}
    for point in entry_points(group=GROUP):
        found.setdefault(point.name, point.value)
    return found
