import { WEB_FORM } from '../model/web-form.ts';
import { IN_MEMORY } from '../platform/config-schema.ts';
import { listeners } from '../platform/declarations.ts';
import type { Emulator } from '../platform/emulator.ts';
import { SYSTEM, type System } from '../system/this-system.ts';
import { styled, type Terminal } from './terminal.ts';

export function greeting(emulator: Emulator, terminal: Pick<Terminal, 'hasColour'>, system = SYSTEM): string[] {
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
    ...toTry.commands.map((args) => commandLine(args, system)),
    '',
    styled(terminal, 'dim', 'Press Ctrl+C to stop.'),
  ];
}

/** A command line to paste into a POSIX shell, or into PowerShell, where `curl` is another program. */
export function commandLine(args: readonly string[], system: System): string {
  if (system !== 'win32') return `  ${args.map((arg) => quoted(arg, "'\\''")).join(' ')}`;
  const at = args.indexOf('-d') + 1;
  // PowerShell versions pass quotation marks in arguments differently, and all of them pass input on.
  const input = at > 0 ? `${quoted(args[at] ?? '', "''")} | ` : '';
  const quotedArgs = args.map((arg, index) => (at > 0 && index === at ? "'@-'" : quoted(arg, "''")));
  return `  ${input}${['curl.exe', ...quotedArgs.slice(1)].join(' ')}`;
}

function quoted(arg: string, mark: string): string {
  return /^[\w%+=:,./-]+$/.test(arg) ? arg : `'${arg.replaceAll("'", mark)}'`;
}
