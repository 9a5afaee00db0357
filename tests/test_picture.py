"""Pictures and flipbooks: small, themed, and exact in every state."""

import io
import json
import re
import subprocess
import sys
from xml.etree.ElementTree import canonicalize

import matplotlib
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.figure import Figure
from PIL import Image

from utils.explore import flipbook, palette, picture


def svg_of(paint, name="test-picture"):
    with picture.house_style(name):
        figure = Figure(figsize=(2, 1.5))
        paint(figure.subplots())
        return picture.to_svg(figure)


def bars(heights, title=""):
    def paint(axes):
        axes.bar(range(len(heights)), heights, color=palette.WEIGHT)
        for x, height in enumerate(heights):
            axes.text(x, height, f"{height:.2f}", color=palette.QUERY)
        axes.set_ylim(0, 1)
        axes.set_title(title)

    return paint


class TestPicture:
    def test_the_palette_becomes_variables_of_the_page(self):
        svg = svg_of(bars([0.5]))
        colours = set(re.findall(r"#[0-9a-f]{6}", svg))
        assert colours <= {light for light, _ in palette.COLOURS.values()}
        assert f'fill="var(--explore-weight, {palette.WEIGHT})"' in svg
        assert f'fill="var(--explore-query, {palette.QUERY})"' in svg

    def test_text_stays_text(self):
        assert ">√dₖ $x$ < 2<" in svg_of(bars([1], "√dₖ $x$ < 2")).replace(
            "&lt;", "<"
        )

    def test_markup_in_a_label_is_shown_as_text(self):
        svg = svg_of(bars([1], "<script>alert(1)</script>"))
        assert "<script" not in svg
        assert "&lt;script&gt;" in svg

    def test_no_style_and_no_date_reach_the_page(self):
        svg = svg_of(bars([0.5]))
        for leak in ("<style", "style=", "<metadata", "matplotlib.org"):
            assert leak not in svg

    def test_ids_are_only_those_that_something_refers_to(self):
        svg = svg_of(bars([0.5]))
        ids = re.findall(r'\bid="([^"]+)"', svg)
        assert ids
        for name in ids:
            assert f"#{name}" in svg

    def test_two_figures_share_no_id(self):
        first = svg_of(bars([0.5]), "test-one")
        second = svg_of(bars([0.5]), "test-two")
        ids = [set(re.findall(r'\bid="([^"]+)"', s)) for s in (first, second)]
        assert not ids[0] & ids[1]

    def test_two_runs_give_the_same_bytes(self):
        code = (
            "from tests.test_picture import svg_of, bars;"
            "import sys; sys.stdout.write(svg_of(bars([0.25, 0.75])))"
        )
        runs = [
            subprocess.run(
                [sys.executable, "-X", "utf8", "-c", code],
                capture_output=True,
                check=True,
            ).stdout.decode("utf-8")
            for _ in range(2)
        ]
        assert runs[0] == runs[1] == svg_of(bars([0.25, 0.75]))

    def test_the_reader_s_own_settings_are_left_alone(self):
        before = dict(matplotlib.rcParams)
        svg_of(bars([0.5]))
        assert dict(matplotlib.rcParams) == before

    def test_a_bar_is_as_high_as_its_number(self):
        svg = svg_of(bars([0.25, 0.75]))
        fills = re.findall(r'<path d="([^"]+)"[^>]*explore-weight', svg)
        heights = []
        for path in fills:
            ys = [float(y) for y in re.findall(r"[\d.]+ ([\d.]+)", path)]
            heights.append(max(ys) - min(ys))
        assert heights[1] / heights[0] == pytest.approx(3, abs=0.01)

    def test_the_house_style_is_seen_in_the_picture(self):
        """Colours by role, sizes of text and lines, no frame, no box."""

        def paint(axes):
            axes.plot([0, 1], [-1, 1], label="line")
            axes.bar([0.5], [0.5], hatch="/", color=palette.WEIGHT)
            axes.grid()
            axes.set_title("title")
            axes.set_xlabel("below")
            axes.set_ylabel("beside")
            axes.text(0.5, 0.5, "$x$ words")
            axes.legend(title="legend")

        with picture.house_style("test-style"):
            figure = Figure()
            paint(figure.subplots())
            svg = picture.to_svg(figure)

        def role(name):
            return re.escape(
                f"var(--explore-{name}, {getattr(palette, name.upper())})"
            )

        def text(words, size, anchor=""):
            found = re.search(
                rf'<text [^>]*font-size="{size}"[^>]*{anchor}[^>]*'
                rf'fill="{role("ink")}"[^>]*>{re.escape(words)}<',
                svg,
            )
            assert found, words

        assert 'viewBox="0 0 345.6 230.4"' in svg  # 4.8 by 3.2 inches
        assert 'font-family="var(--explore-font, sans-serif)"' in svg
        for words in ("−1.0", "below", "beside", "$x$ words", "line"):
            text(words, "10px")
        text("title", "10.5px", 'text-anchor="start"')
        paths = re.findall(r"<path [^>]*>", svg)

        def count(pattern):
            return sum(bool(re.search(pattern, path)) for path in paths)

        assert count(f'fill="{role("ground")}"') == 1  # the page's, no box
        assert count('[^#]fill="none" />') == 1  # that of the axes
        grid = f'stroke="{role("grid")}" stroke-width="0.8"'
        assert count(grid) == 6 + 5
        # two spines of four, and the mark of a tick on each axis
        muted = f'stroke="{role("muted")}" stroke-width="0.8"'
        assert count(muted) == 2 + 2
        assert count(f'{muted} stroke-linejoin="miter"') == 2
        assert count(f'stroke="{role("ink")}" stroke-width="2"') == 2
        hatch = f'fill="{role("muted")}" stroke="{role("muted")}"'
        assert count(hatch) == 1
        order = [
            svg.index(part)
            for part in (
                'stroke-width="0.8" stroke-linecap',
                "url(#h",
                'stroke-width="2"',
            )
        ]
        assert order == sorted(order)  # the grid lies below all

    def test_a_picture_of_pixels_has_the_grounds_colour_and_no_name(self):
        with picture.house_style("test-pixels"):
            figure = Figure(figsize=(1, 0.5))
            data = picture.to_png(figure)
        assert b"Software" not in data
        image = Image.open(io.BytesIO(data))
        assert image.size == (160, 80)
        assert image.getpixel((5, 5))[:3] == (0xFE, 0xFE, 0xFE)

    def test_numbers_are_rounded_and_turns_by_nothing_left_out(self):
        tidy = picture._tidy_value
        assert tidy("M 0.125 -0.001 1.999 10.0 12") == "M 0.12 0 2 10 12"
        assert tidy("1.5e-07") == "0"
        assert tidy("translate(1.0 2) rotate(-0.0 3 4)") == "translate(1 2) "
        assert tidy("rotate(-90 1.0 2)") == "rotate(-90 1 2)"
        assert tidy("rotate(0 1.0 2)") == ""
        assert tidy("#1b2430 #123456") == (
            "var(--explore-ink, #1b2430) #123456"
        )

    def test_what_is_not_a_picture_is_refused(self):
        with pytest.raises(ValueError, match="not a picture.*<svg"):
            picture.tree("<svg><g></svg>")


class TestPalette:
    @staticmethod
    def luminance(colour):
        channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [
            c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4
            for c in channels
        ]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    def contrast(self, one, two):
        high, low = sorted(map(self.luminance, (one, two)), reverse=True)
        return (high + 0.05) / (low + 0.05)

    @pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
    @pytest.mark.parametrize(
        "role", ["ink", "muted", "query", "key", "value", "other"]
    )
    def test_text_is_legible_on_the_ground(self, role, theme):
        ground = palette.COLOURS["ground"][theme]
        assert self.contrast(palette.COLOURS[role][theme], ground) >= 4.5

    @pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
    def test_ink_is_legible_on_a_full_weight(self, theme):
        ink = palette.COLOURS["ink"][theme]
        assert self.contrast(ink, palette.COLOURS["weight"][theme]) >= 4.5

    def test_a_full_weight_stands_out_from_the_dark_ground(self):
        weight, ground = palette.COLOURS["weight"], palette.COLOURS["ground"]
        assert self.contrast(weight[1], ground[1]) >= 3

    def test_no_two_roles_share_a_colour(self):
        lights = [light for light, _ in palette.COLOURS.values()]
        assert len(set(lights)) == len(lights)

    def test_both_themes_reach_the_page(self):
        css = palette.css()
        for light, dark in palette.COLOURS.values():
            assert light in css
            assert dark in css


def assert_all_play_back(svgs, base):
    """Every state equals its picture, the order of attributes aside."""
    book = json.loads(json.dumps(flipbook.build(svgs, base).as_dict()))
    for state, svg in enumerate(svgs):
        played = flipbook.apply(svgs[base], book, state)
        assert canonicalize(played) == canonicalize(svg)


class TestFlipbook:
    @pytest.mark.parametrize("base", [0, 2])
    def test_every_state_plays_back_exactly(self, base):
        svgs = [svg_of(bars([0.2 * k, 0.5])) for k in range(5)]
        assert_all_play_back(svgs, base)

    @pytest.mark.parametrize("base", [0, 1, 2])
    def test_states_of_different_shape_play_back_exactly(self, base):
        svgs = [
            svg_of(bars(heights, title))
            for heights, title in [
                ([0.5], ""),
                ([0.1, 0.2, 0.3], "three"),
                ([0.9, 0.8], "two & <two>"),
            ]
        ]
        assert_all_play_back(svgs, base)

    def test_one_state_needs_no_slots(self):
        book = flipbook.build([svg_of(bars([0.5]))]).as_dict()
        assert book == {"columns": [], "slots": []}

    def test_what_changes_together_shares_a_column(self):
        svgs = [svg_of(bars([0.1 * k])) for k in range(1, 6)]
        book = flipbook.build(svgs).as_dict()
        assert len(book["slots"]) > len(book["columns"])

    def test_a_flipbook_is_far_smaller_than_its_pictures(self):
        svgs = [svg_of(bars([0.01 * k])) for k in range(50)]
        book = flipbook.build(svgs).as_dict()
        text = flipbook.script("test", book, ["Said."] * 50)
        assert len(text) < sum(map(len, svgs)) / 10

    def test_a_script_is_one_call_with_its_data(self):
        book = {"columns": [[0, 1]], "slots": [[3, "#text", 0, ["a", "b"]]]}
        text = flipbook.script("x", book, ['"quoted"\u2028</script>', "é"])
        assert text.startswith('explore.register("x",')
        assert "\u2028" not in text
        data = json.loads(text[len('explore.register("x",') : -len(");\n")])
        assert data["sentences"] == ['"quoted"\u2028</script>', "é"]


names = st.sampled_from(["g", "path", "text"])
words = st.text("ab<&\"' é", min_size=1, max_size=4)


@st.composite
def elements(draw, depth=0):
    """Any small picture: nested elements, each with text or children."""
    attributes = "".join(
        f' a{i}="{draw(st.integers(0, 2))}"'
        for i in range(draw(st.integers(0, 2)))
    )
    name = draw(names)
    if depth < 2 and name != "text":
        rows = draw(st.lists(elements(depth=depth + 1), max_size=3))
        return f"<{name}{attributes}>{''.join(rows)}</{name}>"
    text = draw(words).replace("&", "&amp;").replace("<", "&lt;")
    return f"<{name}{attributes}>{text}</{name}>"


@pytest.mark.parametrize("base", range(3))
@pytest.mark.parametrize(
    "bodies",
    [
        [f"<text>{words}</text>" for words in ("one", "", "three")],
        [
            f'<a/>{middle}<b x="1"/><c/>'
            for middle in ("<g/>", "<g/><g y='2'/><path/>", "")
        ],
    ],
    ids=["a text comes and goes", "children between those that stay"],
)
def test_what_comes_and_goes_plays_back(bodies, base):
    svgs = [picture.text_of(picture.tree(small(body))) for body in bodies]
    assert_all_play_back(svgs, base)


@settings(deadline=None, max_examples=200)
@given(st.lists(elements(), min_size=1, max_size=5), st.integers(0, 4))
def test_any_pictures_play_back_exactly(bodies, base):
    svgs = [
        picture.text_of(
            picture.tree(f'<svg xmlns="{picture.SVG}">{body}</svg>')
        )
        for body in bodies
    ]
    assert_all_play_back(svgs, base % len(svgs))


def small(body, **attributes):
    said = "".join(f' {name}="{value}"' for name, value in attributes.items())
    return f'<svg xmlns="{picture.SVG}"{said}>{body}</svg>'


def slots(*svgs, base=0):
    return flipbook.build(list(svgs), base).as_dict()


class TestSlots:
    """Which element, what of it, and which value in which state."""

    def test_an_attribute_and_a_text_that_change_together(self):
        book = slots(
            small('<g/><text x="1">a</text>'),
            small('<g/><text x="2">b</text>'),
            small('<g/><text x="1">a</text>'),
        )
        assert book == {
            "columns": [[0, 1, 0]],
            "slots": [
                [2, "x", 0, ["1", "2"]],
                [2, "#text", 0, ["a", "b"]],
            ],
        }

    def test_what_changes_apart_has_a_column_each(self):
        book = slots(
            small('<g y="1"/>', x="1"),
            small('<g y="1"/>', x="2"),
            small('<g y="2"/>', x="2"),
        )
        assert book == {
            "columns": [[0, 1, 1], [0, 0, 1]],
            "slots": [[0, "x", 0, ["1", "2"]], [1, "y", 1, ["1", "2"]]],
        }

    def test_an_attribute_that_is_absent_is_null(self):
        book = slots(small("", x="1"), small(""))
        assert book["slots"] == [[0, "x", 0, ["1", None]]]

    def test_a_link_has_its_prefix(self):
        link = f'<g xmlns:xlink="{picture.XLINK}" xlink:href="#{{}}"/>'
        svgs = [small(link.format(name)) for name in "ab"]
        book = slots(*svgs)
        assert book["slots"] == [[1, "xlink:href", 0, ["#a", "#b"]]]
        played = flipbook.apply(svgs[0], book, 1)
        assert canonicalize(played) == canonicalize(svgs[1])

    def test_the_shared_ends_stay_and_the_run_between_is_whole(self):
        book = slots(
            small('<g x="1"/><g/><path/><text>a</text>'),
            small('<g x="2"/><path/><path/><path/><text>b</text>'),
        )
        ns = f'xmlns="{picture.SVG}"'
        assert book == {
            "columns": [[0, 1]],
            "slots": [
                [1, "x", 0, ["1", "2"]],
                [
                    0,
                    "#children:1:2",
                    0,
                    [f"<g {ns} />", f"<path {ns} /><path {ns} />"],
                ],
                [4, "#text", 0, ["a", "b"]],
            ],
        }

    def test_elements_are_counted_in_the_picture_that_stands_in_the_page(self):
        first = small("<g/><text>a</text>")
        second = small("<g/><path/><text>b</text>")
        assert [slot[0] for slot in slots(first, second)["slots"]] == [0, 2]
        both = slots(first, second, base=1)["slots"]
        assert [slot[0] for slot in both] == [0, 3]

    @pytest.mark.parametrize(
        ("rows", "ends"),
        [
            (["abc", "abc"], (3, 0)),
            (["abc", "axc"], (1, 1)),
            (["ab", "aab"], (1, 1)),
            (["aa", "aaa"], (2, 0)),
            (["ba", "a"], (0, 1)),
            (["", "a"], (0, 0)),
            (["abc", "abd", "ab"], (2, 0)),
            (["xab", "yab", "zzab"], (0, 2)),
        ],
    )
    def test_the_shared_ends_of_rows(self, rows, ends):
        assert flipbook._shared_ends(list(map(list, rows))) == ends

    def test_an_attribute_that_goes_is_gone_and_comes_back(self):
        svgs = [small("<g/>", x="1"), small("<g/>")]
        book = slots(*svgs)
        assert 'x="1"' not in flipbook.apply(svgs[0], book, 1)
        book = slots(*svgs, base=1)
        assert 'x="1"' in flipbook.apply(svgs[1], book, 0)

    def test_a_script_is_this_text_and_no_other(self):
        book = {"columns": [[0]], "slots": []}
        said = 'é "q"\u2028\u2029'
        assert flipbook.script("a-b", book, [said]) == (
            'explore.register("a-b",{"columns":[[0]],"slots":[],'
            '"sentences":["é \\"q\\"\\u2028\\u2029"]});\n'
        )


class TestTidy:
    """What of matplotlib's SVG reaches the page, element by element."""

    def tidy(self, text, referred=()):
        root = picture.tree(text)
        for element in root.iter():
            picture._tidy(element, set(referred))
        return picture.text_of(root)

    def test_a_style_becomes_attributes_and_the_font_is_the_pages(self):
        style = "fill : none; stroke:#d8dee5;font-family: X;;broken"
        found = self.tidy(small("<g/>", style=style))
        grid = "var(--explore-grid, #d8dee5)"
        assert found == small("<g />", fill="none", stroke=grid)

    def test_an_id_stays_if_something_refers_to_it(self):
        svg = small('<g id="a"/><g id="b"/>')
        assert self.tidy(svg, ["b"]) == small('<g /><g id="b" />')

    def test_blanks_go_and_words_stay(self):
        svg = small('\n <text x=" 1.004   2 ">a  b </text>\n <g>\n</g>\n')
        assert self.tidy(svg) == small('<text x="1 2">a  b </text><g />')

    def test_a_transform_by_nothing_goes(self):
        svg = small('<g transform="rotate(-0 1 2)"/>')
        assert self.tidy(svg) == small("<g />")
        svg = small('<g transform="scale(2)"/>')
        assert self.tidy(svg) == small('<g transform="scale(2)" />')

    def test_the_licence_and_the_style_go_and_other_definitions_stay(self):
        kept = "<defs><path /></defs><g />"
        root = picture.tree(
            small("<metadata>m</metadata><defs><style>s</style></defs>" + kept)
        )
        picture._drop_metadata(root)
        assert picture.text_of(root) == small(kept)
