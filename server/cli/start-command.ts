import { closeSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { SHELL_COMMAND, shellWord } from '../model/shell-command.ts';
import { WEB_FORM } from '../model/web-form.ts';
import { UserError } from '../platform/config.ts';
import { type Config, IN_MEMORY } from '../platform/config-schema.ts';
import { listeners } from '../platform/declarations.ts';
import type { Emulator } from '../platform/emulator.ts';
import { ownerHere } from '../system/owner.ts';
import { packageFile } from '../system/package-file.ts';
import { type ChildProcess, startProgram } from '../system/programs.ts';
import { makeTemporary, setOwner } from '../system/temporary.ts';
import { SYSTEM, type System } from '../system/this-system.ts';
import { chooseWindow, findShellFile, windowContext, windowSettings } from './choose-window.ts';
import { defineCommand, flag, json } from './command.ts';
import { configOf, projectFolder, selectionOf, settingOptions } from './config-options.ts';
import { ExitWith, NO } from './describe-failure.ts';
import { fetchInBackground } from './fetch-electron.ts';
import { findInstance, type InstanceRecord, withKeptPorts } from './instance-file.ts';
import { rootClient } from './platform-client.ts';
import { runShell } from './run-shell.ts';
import { withPlatform } from './running-platform.ts';
import { showWindow } from './show-window.ts';
import { untilStopSignal } from './stop-signal.ts';
import { styled, type Terminal } from './terminal.ts';

const NO_JSON =
  '--json requires --detach. To get the addresses of a platform in the foreground, use --ready-file FILE.';

/** The choice of its window is explained in docs/internals/decisions/the-window.md. */
export const startCommand = defineCommand({
  name: 'start',
  description: 'start the platform (the default command)',
  options: {
    detach: flag(
      '--detach',
      `run in the background; return when the platform is ready (to stop it: \`${SHELL_COMMAND} stop\`)`,
    ),
    logRequests: flag(
      '--log-requests',
      'print each request to the gateway, with the log and the outbound calls of its lambda',
    ),
    json: json('with --detach: print the addresses as JSON'),
    ...settingOptions,
  },
  async run({ options, terminal, startEmulator, line: [, ...args], print }) {
    const configured = configOf(options, terminal);
    const project = projectFolder(terminal.folder);
    const isElsewhere = project !== terminal.folder && selectionOf(options).data === undefined;
    const projectLines = isElsewhere ? [`Using the project in ${project}.`] : [];
    if (options.detach) {
      const inner = args.filter((arg) => arg !== '--detach' && arg !== '--json');
      const { instance, log } = await startDetached(configured.config, inner, terminal);
      print({ ...instance, log }, [
        ...projectLines,
        `Terrarium is ready at ${instance.baseUrl} (process ${instance.pid}). Its output is written to ${log}`,
      ]);
      return;
    }
    if (options.json) throw new UserError(NO_JSON);
    const found = options.instance !== undefined ? await withKeptPorts(configured) : configured;
    const stopSignal = untilStopSignal(terminal);
    let context = windowContext(terminal, windowSettings(found));
    const shell = chooseWindow(context);
    if (shell.kind === 'electron') {
      terminal.print(shell.line);
      const end = await runShell(shell.path, findShellFile() ?? '', args, terminal, stopSignal);
      if ('exitCode' in end) throw new ExitWith(end.exitCode);
      context = { ...context, electron: { missing: `Electron could not start (${end.failure})` } };
    }
    const window = chooseWindow(context);
    await withPlatform(found, terminal, startEmulator, async (emulator) => {
      for (const line of [...projectLines, ...greeting(emulator, terminal)]) terminal.print(line);
      const page = await showWindow(window, () => emulator.windowUrl(), terminal);
      if (options.logRequests) {
        // Loaded only now: most starts do not need it.
        const { RequestLog } = await import('./request-log.ts');
        await RequestLog.start(rootClient(emulator, found.config), terminal);
      }
      const stopFetching = fetchInBackground(window, context, terminal);
      terminal.print(`\n${await stopSignal}: stopping ...`);
      await page?.close();
      await stopFetching();
    });
  },
});

const LOOK_EVERY_MS = 50;

/** Starts a platform that outlives this command. Throws ExitWith with its output if it ends before it responds; UserError for a world in memory. */
async function startDetached(
  { data }: Pick<Config, 'data'>,
  args: readonly string[],
  { env, folder }: Pick<Terminal, 'env' | 'folder'>,
): Promise<{ instance: InstanceRecord; log: string }> {
  if (data === IN_MEMORY) {
    throw new UserError(
      `--detach requires a data folder, because other commands use it to find the platform; --data is ${IN_MEMORY}`,
    );
  }
  // Readable only by its owner: the greeting contains the secret.
  const logFolder = await makeTemporary('log');
  const log = join(logFolder, 'start.log');
  const output = openSync(log, 'a', 0o600);
  // A process that npm started ends with npm; this one must not.
  const { npm_lifecycle_event: _, ...inherited } = env;
  const child = startProgram(process.execPath, [packageFile('dist/server/cli.js'), 'start', ...args], {
    cwd: folder,
    env: inherited,
    detached: true,
    stdio: ['ignore', output, output],
  });
  closeSync(output);
  // It is needed as long as the platform runs.
  if (child.pid !== undefined) setOwner(logFolder, await ownerHere(undefined, child.pid));
  const ended = new Promise<string>((resolve) => {
    child
      .on('exit', (code, signal) => resolve(signal ?? `exit code ${code}`))
      .on('error', ({ message }) => resolve(message));
  });
  const instance = await Promise.race([untilReady(data, child), ended]);
  if (typeof instance === 'string') {
    const logText = readFileSync(log, 'utf8')
      .trim()
      .replaceAll(/^terrarium: /gm, '');
    throw new ExitWith(child.exitCode || NO, logText || `the platform ended with ${instance} before it was ready`);
  }
  child.unref();
  return { instance, log };
}

async function untilReady(dataDir: string, child: ChildProcess): Promise<InstanceRecord> {
  for (;;) {
    const found = await findInstance(dataDir);
    if (found?.pid === child.pid && found) return found;
    // The timer must not keep this process alive after the platform has ended.
    await delay(LOOK_EVERY_MS, undefined, { ref: false });
  }
}

function greeting(emulator: Emulator, terminal: Pick<Terminal, 'hasColour'>): string[] {
  const bold = (text: string) => styled(terminal, 'bold', text);
  const { baseUrl, rootCredentials: root, tour } = emulator;
  const windowUrl = emulator.windowUrl();
  // Some browsers do not resolve the window's host name: print the plain address, too.
  const isPlain = windowUrl.startsWith(`${baseUrl}/`);
  const asRoot = ['curl', '-u', `${root.apiKey}:${root.apiSecret ?? 'SECRET'}`];
  const form = ['curl', '-H', 'Content-Type: application/json', '-d', JSON.stringify(WEB_FORM)];
  const toTry = tour?.leadUrl
    ? {
        what: 'send the web form of the demo, then list the lead that its lambda created',
        commands: [
          [...form, tour.leadUrl],
          [...asRoot, `${baseUrl}/inspect/leads`],
        ],
      }
    : { what: 'list the organizations', commands: [[...asRoot, `${emulator.metaUrl}/orgs`]] };
  return [
    bold('Terrarium is ready.'),
    '',
    `  window     ${windowUrl}`,
    ...(isPlain ? [] : [`             ${baseUrl}/ui/ if your browser cannot resolve that name`]),
    `  resources  ${emulator.metaUrl}`,
    `  security   ${emulator.securityUrl}`,
    // The base address is part of the addresses above.
    ...listeners.slice(1).map(({ title, url }) => `  ${title.padEnd(11)}${emulator[url]}`),
    `  API docs   ${baseUrl}/docs`,
    `  data       ${emulator.dataDir === IN_MEMORY ? 'in memory, lost when the platform stops' : emulator.dataDir}`,
    '',
    `  user       ${root.username}, password ${root.password ?? '(as configured)'}`,
    `  API key    ${root.apiKey}`,
    `  secret     ${root.apiSecret ?? '(as configured)'}`,
    ...(root.apiSecretFile ? [`             stored in ${root.apiSecretFile}`] : []),
    '',
    bold(`Try it: ${toTry.what}.`),
    '',
    ...toTry.commands.map((args) => commandLine(args, SYSTEM)),
    '',
    styled(terminal, 'dim', 'Press Ctrl+C to stop.'),
  ];
}

/** A command line to paste into a POSIX shell, or into PowerShell, where `curl` is another program. */
export function commandLine(args: readonly string[], system: System): string {
  if (system !== 'win32') return `  ${args.map(shellWord).join(' ')}`;
  const at = args.indexOf('-d') + 1;
  // PowerShell versions pass quotation marks in arguments differently, and all of them pass input on.
  const input = at > 0 ? `${powerShellWord(args[at] ?? '')} | ` : '';
  const quotedArgs = args.map((arg, index) => (at > 0 && index === at ? "'@-'" : powerShellWord(arg)));
  return `  ${input}${['curl.exe', ...quotedArgs.slice(1)].join(' ')}`;
}

const powerShellWord = (arg: string) => (/^[\w%+=:,./-]+$/.test(arg) ? arg : `'${arg.replaceAll("'", "''")}'`);
