// Colours that colour-blind readers can tell apart: the Okabe-Ito palette, and viridis for fields.

export const PALETTE = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9"];

const VIRIDIS_HEX = [
  "44015444025645045745055946075a46085c460a5d460b5e470d60470e6147106347116447136548146748166848176948186a481a6c",
  "481b6d481c6e481d6f481f70482071482173482374482475482576482677482878482979472a7a472c7a472d7b472e7c472f7d46307e",
  "46327e46337f463480453581453781453882443983443a83443b84433d84433e85423f85424086424186414287414487404588404688",
  "3f47883f48893e49893e4a893e4c8a3d4d8a3d4e8a3c4f8a3c508b3b518b3b528b3a538b3a548c39558c39568c38588c38598c375a8c",
  "375b8d365c8d365d8d355e8d355f8d34608d34618d33628d33638d32648e32658e31668e31678e31688e30698e306a8e2f6b8e2f6c8e",
  "2e6d8e2e6e8e2e6f8e2d708e2d718e2c718e2c728e2c738e2b748e2b758e2a768e2a778e2a788e29798e297a8e297b8e287c8e287d8e",
  "277e8e277f8e27808e26818e26828e26828e25838e25848e25858e24868e24878e23888e23898e238a8d228b8d228c8d228d8d218e8d",
  "218f8d21908d21918c20928c20928c20938c1f948c1f958b1f968b1f978b1f988b1f998a1f9a8a1e9b8a1e9c891e9d891f9e891f9f88",
  "1fa0881fa1881fa1871fa28720a38620a48621a58521a68522a78522a88423a98324aa8325ab8225ac8226ad8127ad8128ae8029af7f",
  "2ab07f2cb17e2db27d2eb37c2fb47c31b57b32b67a34b67935b77937b87838b9773aba763bbb753dbc743fbc7340bd7242be7144bf70",
  "46c06f48c16e4ac16d4cc26c4ec36b50c46a52c56954c56856c66758c7655ac8645cc8635ec96260ca6063cb5f65cb5e67cc5c69cd5b",
  "6ccd5a6ece5870cf5773d05675d05477d1537ad1517cd2507fd34e81d34d84d44b86d54989d5488bd6468ed64590d74393d74195d840",
  "98d83e9bd93c9dd93ba0da39a2da37a5db36a8db34aadc32addc30b0dd2fb2dd2db5de2bb8de29bade28bddf26c0df25c2df23c5e021",
  "c8e020cae11fcde11dd0e11cd2e21bd5e21ad8e219dae319dde318dfe318e2e418e5e419e7e419eae51aece51befe51cf1e51df4e61e",
  "f6e620f8e621fbe723fde725",
].join("");

/** A colour "#rrggbb" as [r, g, b]; black for what is none. */
export function rgbOf(colour) {
  const digits = /^#([0-9a-f]{6})$/i.exec(colour ?? "")?.[1] ?? "000000";
  return [0, 2, 4].map((k) => parseInt(digits.slice(k, k + 2), 16));
}

/** A mixture of two colours: `share` of the second. */
export function mixed(colour, other, share) {
  const to = rgbOf(other);
  const parts = rgbOf(colour).map((value, k) => Math.round(value * (1 - share) + to[k] * share));
  return `#${parts.map((value) => value.toString(16).padStart(2, "0")).join("")}`;
}

/** A colour with an opacity. */
export function faded(colour, opacity) {
  return `rgba(${rgbOf(colour).join(",")},${opacity})`;
}

function shadedPalette(number) {
  const colour = PALETTE[number % PALETTE.length];
  return Math.floor(number / PALETTE.length) % 2 ? mixed(colour, "#000000", 0.45) : colour;
}

/** Six colours, then the same six darker; beyond, robots are told apart by their numbers. */
export function robotColour(robot) {
  return shadedPalette(robot);
}

/** The colour of an action in games that are no map. */
export function actionColour(action) {
  return shadedPalette(action);
}

/** How bright a colour is, 0 to 1. */
export function brightness(colour) {
  const [r, g, b] = rgbOf(colour).map((value) => (value / 255) ** 2.2);
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

/** Black or white, whichever is read better on a colour. */
export function inkOn(colour) {
  return brightness(colour) < 0.22 ? "#ffffff" : "#000000";
}

/** The contrast of two colours as accessibility guidelines count it, 1 to 21. */
export function contrastOf(colour, other) {
  const light = (each) => {
    const [r, g, b] = rgbOf(each).map((value) =>
      value <= 10 ? value / 255 / 12.92 : ((value / 255 + 0.055) / 1.055) ** 2.4,
    );
    return 0.2126 * r + 0.7152 * g + 0.0722 * b + 0.05;
  };
  return Math.max(light(colour) / light(other), light(other) / light(colour));
}

/** A line's colour that is seen on this paper: lightened where paper is dark, and the other way, as far as needed. */
export function readableColour(colour, paper, contrast = 3) {
  const end = contrastOf(paper, "#000000") > contrastOf(paper, "#ffffff") ? "#000000" : "#ffffff";
  let seen = colour;
  for (let share = 0; share <= 1 && contrastOf(seen, paper) < contrast; share += 0.04) seen = mixed(colour, end, share);
  return seen;
}

/** Packed pixels (as ImageData holds them, little-endian) of 256 colours between the given ones. */
export function rampOf(colours) {
  const ramp = new Uint32Array(256);
  for (let k = 0; k < 256; k += 1) {
    const place = (k / 255) * (colours.length - 1);
    const at = Math.min(colours.length - 2, Math.floor(place));
    ramp[k] = packedColour(mixed(colours[at], colours[at + 1], place - at));
  }
  return ramp;
}

/** One colour as a packed pixel. */
export function packedColour(colour, opacity = 1) {
  const [r, g, b] = rgbOf(colour);
  return ((Math.round(255 * opacity) << 24) | (b << 16) | (g << 8) | r) >>> 0;
}

export const VIRIDIS = Uint32Array.from({ length: 256 }, (_, k) =>
  packedColour(`#${VIRIDIS_HEX.slice(6 * k, 6 * k + 6)}`),
);

/** A ramp whose colours are mixed with another one. */
export function dimmedRamp(ramp, colour, share) {
  const to = rgbOf(colour);
  return ramp.map((pixel) => {
    const from = [pixel & 255, (pixel >> 8) & 255, (pixel >> 16) & 255];
    const [r, g, b] = from.map((value, k) => Math.round(value * (1 - share) + to[k] * share));
    return ((255 << 24) | (b << 16) | (g << 8) | r) >>> 0;
  });
}

/** A packed pixel as CSS. */
export function cssOf(pixel) {
  return `rgb(${pixel & 255},${(pixel >> 8) & 255},${(pixel >> 16) & 255})`;
}
