import { IN_MEMORY } from '../config-schema.ts';
import type { Emulator } from '../emulator.ts';
import { WEB_FORM } from '../model/web-form.ts';
import { styled, type Terminal } from './terminal.ts';

/** What a person who has just started the platform wants to know, line by line: where it is, how to sign in, what to try. */
export function greeting(emulator: Emulator, terminal: Pick<Terminal, 'hasColour'>): string[] {
  const title = (text: string) => styled(terminal, 'bold', text);
  const { rootCredentials: root, tour } = emulator;
  return [
    title('Terrarium is ready.'),
    '',
    ...windowLines(emulator),
    `  resources  ${emulator.metaUrl}`,
    `  security   ${emulator.securityUrl}`,
    `  gateway    ${emulator.gatewayUrl}`,
    `  CRM        ${emulator.crmUrl}`,
    `  SCM        ${emulator.scmUrl}`,
    `  API docs   ${emulator.baseUrl}/docs`,
    `  data       ${emulator.dataDir === IN_MEMORY ? 'in memory, gone after this run' : emulator.dataDir}`,
    '',
    `  user       ${root.username}, password ${root.password ?? 'as you set it'}`,
    `  API key    ${root.apiKey}`,
    `  secret     ${root.apiSecret ?? 'as you set it'}`,
    ...(root.apiSecretFile ? [`             kept in ${root.apiSecretFile}`] : []),
    '',
    ...(tour?.leadUrl
      ? tourLines(emulator.baseUrl, tour.leadUrl, root, title)
      : listLines(emulator.metaUrl, root, title)),
    '',
    styled(terminal, 'dim', 'Ctrl+C stops it.'),
  ];
}

/** Of the window's own name, which is no browser's fault not to know, the plain address is told, too. */
function windowLines(emulator: Pick<Emulator, 'baseUrl' | 'windowUrl'>): string[] {
  const { baseUrl } = emulator;
  const url = emulator.windowUrl();
  const plain = url.startsWith(`${baseUrl}/`)
    ? []
    : [`             ${baseUrl}/ui/ in a browser that does not find that name`];
  return [`  window     ${url}`, ...plain];
}

function tourLines(
  baseUrl: string,
  leadUrl: string,
  root: Emulator['rootCredentials'],
  title: (text: string) => string,
): string[] {
  const post = ['curl', '-H', 'Content-Type: application/json', '-d', JSON.stringify(WEB_FORM), leadUrl];
  return [
    title('Try it: send the web form of the demo, then see the lead that its lambda made of it.'),
    '',
    commandLine(post),
    commandLine(['curl', '-u', pairOf(root), `${baseUrl}/inspect/leads`]),
  ];
}

function listLines(metaUrl: string, root: Emulator['rootCredentials'], title: (text: string) => string): string[] {
  return [title('Try it: list the organizations.'), '', commandLine(['curl', '-u', pairOf(root), `${metaUrl}/orgs`])];
}

function pairOf(root: Emulator['rootCredentials']): string {
  return `${root.apiKey}:${root.apiSecret ?? 'SECRET'}`;
}

/** The words as a line to paste: in single quotes for a POSIX shell, in double quotes for Windows. */
function commandLine(words: readonly string[]): string {
  const quoted = words.map((word) => {
    if (/^[\w@%+=:,./-]+$/.test(word)) return word;
    return process.platform === 'win32' ? `"${word.replaceAll('"', '\\"')}"` : `'${word.replaceAll("'", "'\\''")}'`;
  });
  return `  ${quoted.join(' ')}`;
}
