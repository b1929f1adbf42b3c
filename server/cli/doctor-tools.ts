import { execFile } from 'node:child_process';
import { createRequire } from 'node:module';
import { promisify } from 'node:util';
import { chooseWindow } from './choose-window.ts';
import { type Check, checkOf } from './doctor-checks.ts';
import type { Terminal } from './terminal.ts';
import { type Onlooker, type WindowChoice, windowSurroundings } from './window-surroundings.ts';

const ASK_TIMEOUT_MS = 5_000;

interface Program {
  name: string;
  why: string;
  /** Debian's package of it; unless given, of its own name. */
  debian?: string;
}

/** Programs that pipelines are run with, and how each is installed. */
const PROGRAMS: readonly Program[] = [
  { name: 'git', why: 'pipelines need it' },
  { name: 'bash', why: "pipelines' jobs are run by it" },
  { name: 'rsync', why: 'pipelines copy their files with it' },
  { name: 'curl', why: "the sample's pipeline calls the platform with it" },
  { name: 'docker', why: "the sample's pipeline builds its image with it", debian: 'docker.io' },
];

/** What nothing but pipelines and the window's own shell needs, each with the line that installs it. */
export async function checkTools(terminal: Onlooker, asked: WindowChoice): Promise<Check[]> {
  const programs = PROGRAMS.map((one) => checkProgram(one, terminal.env));
  return [...(await Promise.all(programs)), checkRunner(), ...checkWindow(terminal, asked)];
}

async function checkProgram({ name, why, debian = name }: Program, env: Terminal['env']): Promise<Check> {
  const said = checkOf(name, false);
  try {
    const { stdout } = await promisify(execFile)(name, ['--version'], { env: { ...env }, timeout: ASK_TIMEOUT_MS });
    return said(true, stdout.split('\n', 1)[0]?.trim() ?? '');
  } catch {
    return said(false, `not found, and ${why}: ${installLine(name, debian)}`);
  }
}

function installLine(name: string, debian: string): string {
  if (process.platform === 'darwin') return `brew install ${name}`;
  if (process.platform === 'win32') return `use WSL, and there \`sudo apt-get install ${debian}\``;
  return `sudo apt-get install ${debian} (or your system's own way)`;
}

function checkRunner(): Check {
  const said = checkOf('pipelines', false);
  try {
    const manifest = createRequire(import.meta.url)('gitlab-ci-local/package.json');
    return said(true, `gitlab-ci-local ${manifest.version}`);
  } catch {
    return said(false, 'their runner is not installed: npm install --save-dev gitlab-ci-local');
  }
}

/** What the window would open in, and why; and Electron, which it opens in where that can be. */
function checkWindow(terminal: Onlooker, asked: WindowChoice): Check[] {
  const surroundings = windowSurroundings(terminal, asked);
  const { electron } = surroundings;
  const saidOfElectron = checkOf('Electron', false);
  const how = 'fetchInto' in electron ? ': the first start that opens a browser fetches it in the background' : '';
  return [
    'path' in electron
      ? saidOfElectron(true, electron.path)
      : saidOfElectron(false, `${electron.missing}${how || ': the window opens in a browser instead'}`),
    checkOf('window', false)(true, chooseWindow(surroundings).line ?? 'No window: that was asked for.'),
  ];
}
