"""The frame of a picture as SVG that reads in light and dark. scripts/plots.py fills it with charts by matplotlib,
common/draw/trace_picture.py with squares."""

WIDTH, LEFT = 664, 24
STYLE = """
  .page { fill: #ffffff; }
  text { font: 14px system-ui, sans-serif; fill: #1f2328; }
  .title { font-weight: 600; }
  .small { font-size: 12px; fill: #59636e; }
  @media (prefers-color-scheme: dark) {
    .page { fill: #0d1117; }
    text { fill: #f0f6fc; }
    .small { fill: #b7bfc9; }
  }
""".strip("\n")


def style(light, dark=""):
    """STYLE, and rules of a picture's own: `light` for both, `dark` where the screen is dark."""
    frame, dark_frame = STYLE.split("  @media")
    return "".join([frame, light.lstrip("\n"), "  @media", dark_frame.removesuffix("  }"), dark.lstrip("\n"), "  }"])


def picture(body, height, description, style=STYLE, details="", width=WIDTH):
    """The whole file. `description` is what a screen reader says; `details`, if there are any, it says on request."""
    labels = "title details" if details else "title"
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        f'role="img" aria-labelledby="{labels}">',
        f'<title id="title">{description}</title>',
        *([f'<desc id="details">{details}</desc>'] if details else []),
        f"<style>\n{style}\n</style>",
        '<rect class="page" width="100%" height="100%" rx="8"/>',
        *body,
        "</svg>\n",
    ])
