// Thousands of lines as counts per pixel: adding or removing a line costs only its own pixels.

const MOST_COUNTED = 63; // lines over one pixel beyond which it gets no darker

export function createDensity(width, height) {
  const counts = new Int16Array(width * height);

  function addLine(fromX, fromY, toX, toY, amount) {
    const steps = Math.max(1, Math.ceil(Math.max(Math.abs(toX - fromX), Math.abs(toY - fromY))));
    const stepX = (toX - fromX) / steps;
    const stepY = (toY - fromY) / steps;
    let x = fromX;
    let y = fromY;
    for (let step = 0; step < steps; step += 1) {
      counts[(y | 0) * width + (x | 0)] += amount;
      x += stepX;
      y += stepY;
    }
  }

  function paint(context, colour, opacity) {
    const image = new ImageData(width, height);
    const pixels = new Uint32Array(image.data.buffer);
    const plain = packedColour(colour) & 0xffffff;
    const shades = Uint32Array.from({ length: MOST_COUNTED + 1 }, (_, count) => {
      const alpha = Math.round(255 * (1 - (1 - opacity) ** count));
      return ((alpha << 24) | plain) >>> 0;
    });
    for (let pixel = 0; pixel < counts.length; pixel += 1) {
      const count = counts[pixel];
      if (count > 0) pixels[pixel] = shades[Math.min(count, MOST_COUNTED)];
    }
    context.putImageData(image, 0, 0);
  }

  return { addLine, paint };
}

export function packedColour(text) {
  // A colour like #0072b2 as one little-endian pixel without transparency.
  const [red, green, blue] = [1, 3, 5].map((start) => parseInt(text.slice(start, start + 2), 16));
  return ((255 << 24) | (blue << 16) | (green << 8) | red) >>> 0;
}
