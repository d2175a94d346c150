"""Short names of installed packages: entry points of the group `pcn.environments`."""

from importlib.metadata import entry_points

GROUP = "pcn.environments"


def installed_names() -> dict[str, str]:
    """Short name -> `module:Name`, as installed packages declare them.

    If two packages declare one name, the first one that Python finds counts.
    """
    found: dict[str, str] = {}
    for point in entry_points(group=GROUP):
        found.setdefault(point.name, point.value)
    return found
