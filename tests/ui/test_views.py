"""Each view at three widths in both themes: nothing overflows, axe finds nothing, nothing is printed."""

from collections.abc import Callable

import pytest
from ui.conftest import THEMES, WIDTHS, Tab, addresses

pytestmark = pytest.mark.ui


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("view", addresses())
def test_view_fits_its_screen_and_is_accessible(
    open_tab: Callable[..., Tab], axe_script: str, view: str, width: int, theme: str
) -> None:
    tab = open_tab(width, theme)

    page = tab.open(addresses()[view])

    assert page.locator("main h1").count() == 1
    tab.check_layout()
    tab.check_access(axe_script)


def test_unknown_view_is_the_search(tab: Tab) -> None:
    page = tab.open("#/nowhere?x=1")

    assert page.locator("main h1").inner_text() == "Where can this job run now?"
