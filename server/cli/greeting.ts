import { IN_MEMORY } from '../config-schema.ts';
import type { Emulator } from '../emulator.ts';
import { WEB_FORM } from '../model/web-form.ts';
import { styled, type Terminal } from './terminal.ts';

/** What a person who has just started the platform wants to know, line by line: where it is, how to sign in, what to try. */
export function greeting(emulator: Emulator, terminal: Pick<Terminal, 'hasColour'>): string[] {
  const bold = (text: string) => styled(terminal, 'bold', text);
  const { baseUrl, rootCredentials: root, tour } = emulator;
  const windowUrl = emulator.windowUrl();
  // Its own name no browser need know: then the plain address is told, too.
  const isPlain = windowUrl.startsWith(`${baseUrl}/`);
  const asRoot = ['curl', '-u', `${root.apiKey}:${root.apiSecret ?? 'SECRET'}`];
  const form = ['curl', '-H', 'Content-Type: application/json', '-d', JSON.stringify(WEB_FORM)];
  const toTry = tour?.leadUrl
    ? {
        what: 'send the web form of the demo, then see the lead that its lambda made of it',
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
    ...(isPlain ? [] : [`             ${baseUrl}/ui/ in a browser that does not find that name`]),
    `  resources  ${emulator.metaUrl}`,
    `  security   ${emulator.securityUrl}`,
    `  gateway    ${emulator.gatewayUrl}`,
    `  CRM        ${emulator.crmUrl}`,
    `  SCM        ${emulator.scmUrl}`,
    `  API docs   ${baseUrl}/docs`,
    `  data       ${emulator.dataDir === IN_MEMORY ? 'in memory, gone after this run' : emulator.dataDir}`,
    '',
    `  user       ${root.username}, password ${root.password ?? 'as you set it'}`,
    `  API key    ${root.apiKey}`,
    `  secret     ${root.apiSecret ?? 'as you set it'}`,
    ...(root.apiSecretFile ? [`             kept in ${root.apiSecretFile}`] : []),
    '',
    bold(`Try it: ${toTry.what}.`),
    '',
    ...toTry.commands.map(commandLine),
    '',
    styled(terminal, 'dim', 'Ctrl+C stops it.'),
  ];
}

/** The words as a line to paste: in single quotes for a POSIX shell, in double quotes for Windows. */
function commandLine(words: readonly string[]): string {
  const quoted = words.map((word) => {
    if (/^[\w@%+=:,./-]+$/.test(word)) return word;
    return process.platform === 'win32' ? `"${word.replaceAll('"', '\\"')}"` : `'${word.replaceAll("'", "'\\''")}'`;
  });
  return `  ${quoted.join(' ')}`;
}
