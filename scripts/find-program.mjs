// Where programs that the tests use are on this machine.
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

/** Names of browsers of the Chromium family. The one without a screen comes first: its journeys take a quarter less processor time. */
const CHROMIUM_NAMES = [
  'chromium-headless-shell',
  'chromium',
  'chromium-browser',
  'google-chrome',
  'google-chrome-stable',
  'microsoft-edge',
];
const MAC_CHROME = '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome';

/** The path of a browser, or undefined; CHROMIUM_PATH comes before all others. */
export function findChromium() {
  const candidates = [process.env.CHROMIUM_PATH ?? '', ...CHROMIUM_NAMES, MAC_CHROME];
  return candidates.map(findProgram).find(Boolean);
}

/** The path of a program by its name or path, also in the folders of administrators' programs; or undefined. */
export function findProgram(file) {
  const folders = [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin', '/sbin'];
  const candidates = file.startsWith('/') ? [file] : folders.map((folder) => join(folder, file));
  return file === '' ? undefined : candidates.find(isProgram);
}

function isProgram(path) {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
