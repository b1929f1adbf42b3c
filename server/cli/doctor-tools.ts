import { execFile } from 'node:child_process';
import { createRequire } from 'node:module';
import { promisify } from 'node:util';
import { chooseWindow } from './choose-window.ts';
import type { Check } from './doctor-checks.ts';
import type { Terminal } from './terminal.ts';
import { type Onlooker, type WindowWish, windowSurroundings } from './window-surroundings.ts';

const ASK_TIMEOUT_MS = 5_000;

/** Programs that pipelines are run with, and how each is installed. */
const PROGRAMS = [
  { name: 'git', why: 'pipelines need it' },
  { name: 'bash', why: "pipelines' jobs are run by it" },
  { name: 'rsync', why: 'pipelines copy their files with it' },
] as const;

/** What nothing but pipelines and the window's own shell needs, each with the line that installs it. */
export async function checkTools(terminal: Onlooker, wish: WindowWish): Promise<Check[]> {
  const programs = PROGRAMS.map((one) => checkProgram(one, terminal.env));
  return [...(await Promise.all(programs)), checkRunner(), ...checkWindow(terminal, wish)];
}

async function checkProgram({ name, why }: (typeof PROGRAMS)[number], env: Terminal['env']): Promise<Check> {
  const said = (ok: boolean, message: string) => ({ name, ok, isNeeded: false, message });
  try {
    const { stdout } = await promisify(execFile)(name, ['--version'], { env: { ...env }, timeout: ASK_TIMEOUT_MS });
    return said(true, stdout.split('\n', 1)[0]?.trim() ?? '');
  } catch {
    return said(false, `not found, and ${why}: ${installLine(name)}`);
  }
}

function installLine(name: string): string {
  if (process.platform === 'darwin') return `brew install ${name}`;
  if (process.platform === 'win32') return `use WSL, and there \`sudo apt-get install ${name}\``;
  return `sudo apt-get install ${name} (or your system's own way)`;
}

function checkRunner(): Check {
  const said = (ok: boolean, message: string) => ({ name: 'pipelines', ok, isNeeded: false, message });
  try {
    const manifest = createRequire(import.meta.url)('gitlab-ci-local/package.json');
    return said(true, `gitlab-ci-local ${manifest.version}`);
  } catch {
    return said(false, 'their runner is not installed: npm install --save-dev gitlab-ci-local');
  }
}

/** What the window would open in, and why; and Electron, which it opens in where that can be. */
function checkWindow(terminal: Onlooker, wish: WindowWish): Check[] {
  const surroundings = windowSurroundings(terminal, wish);
  const { electron } = surroundings;
  const said = (name: string, ok: boolean, message: string) => ({ name, ok, isNeeded: false, message });
  const how = 'fetchInto' in electron ? ': the first start that opens a browser fetches it in the background' : '';
  return [
    'path' in electron
      ? said('Electron', true, electron.path)
      : said('Electron', false, `${electron.missing}${how || ': the window opens in a browser instead'}`),
    said('window', true, chooseWindow(surroundings).line ?? 'No window: that was asked for.'),
  ];
}
