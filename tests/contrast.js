/* Gives a page WCAG's contrast of two colours, [red, green, blue] to 255. */
() => {
  const light = (colour) => {
    const [x, y, z] = colour.map((v) => {
      v /= 255;
      return v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * x + 0.7152 * y + 0.0722 * z;
  };
  window.contrast = (one, other) => {
    const [a, b] = [light(one), light(other)].sort((p, q) => q - p);
    return (a + 0.05) / (b + 0.05);
  };
}
