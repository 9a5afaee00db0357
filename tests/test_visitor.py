"""The tabs that tests share."""

import pytest

pytestmark = pytest.mark.browser


def test_a_kept_tab_is_the_same_until_it_draws_no_more(visitor):
    page = "book/references.html"
    tab = visitor.keep(page)
    assert visitor.keep(page) is tab
    tab.evaluate("() => { window.requestAnimationFrame = () => 0; }")
    other = visitor.keep(page)
    assert other is not tab
    assert tab.is_closed()
    assert visitor.keep(page) is other
