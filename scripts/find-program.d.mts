/** The path of a browser of the Chromium family, or undefined; CHROMIUM_PATH comes before all others. */
export function findChromium(): string | undefined;
