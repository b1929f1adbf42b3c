/** The path of a browser of the Chromium family, or undefined; CHROMIUM_PATH comes before all others. */
export function findChromium(): string | undefined;
/** The path of a program by its name or path, or undefined. */
export function findProgram(file: string): string | undefined;
