"""A reader of the built site, who notes whatever goes wrong."""

# Chromium stopped to draw a tab once, in one run of many: the page answered,
# and no frame came any more. Playwright then waits for ever before a click.
DRAWS = """
() => Promise.race([
  new Promise((done) => requestAnimationFrame(() => done(true))),
  new Promise((done) => setTimeout(() => done(false), 5000)),
])
"""


class Visitor:
    """Opens pages, and writes down whatever goes wrong in them."""

    def __init__(self, browser, site):
        self.browser, self.site = browser, site
        self.wrong, self.kept = [], {}

    def open(
        self,
        page,
        width=1280,
        theme="light",
        height=900,
        mathematics=True,
        **options,
    ):
        """A tab of its own, the network cut; without MathJax if not needed."""
        context = self.browser.new_context(
            viewport={"width": width, "height": height},
            color_scheme=theme,
            offline=True,
            **options,
        )
        tab = context.new_page()

        def note(what):
            self.wrong.append(f"{page}: {what}")

        def on_console(message):
            if message.type in ("error", "warning"):
                note(f"console: {message.text}")

        def on_request(request):
            if not request.url.startswith(("file://", "data:", "blob:")):
                note(f"asks {request.url}")

        tab.on("console", on_console)
        tab.on("pageerror", note)
        tab.on("request", on_request)
        tab.on("requestfailed", lambda request: note(f"no {request.url}"))
        if not mathematics:
            context.route("**/mathjax/*", lambda route: route.fulfill(body=""))
        path, mark, rest = page.partition("#")
        tab.goto((self.site / path).as_uri() + mark + rest)
        return tab

    def keep(self, page, width=1280, theme="light", height=900):
        """A tab that other tests use too: reset what you look at first.

        Its size is not to be changed: open one of your own for that.
        """
        key = page, width, theme, height
        if key in self.kept and not self.kept[key].evaluate(DRAWS):
            self.kept.pop(key).context.close()
        if key not in self.kept:
            self.kept[key] = self.open(*key)
        return self.kept[key]
