import { canBeCrm, hostnameIn, isKnownForm, type NamedForm, pathnameOf } from '../../../model/crm-form.ts';
import { canonicalHost } from '../../../model/host-names.ts';
import { SYSTEM } from '../../../system/this-system.ts';
import type { LambdaDefinition } from '../lambda-definition.ts';
import type { Address, CrmHost, OwnCrm } from './protocol.ts';

export interface PlatformAddresses {
  metaUrl: string;
  securityUrl: string;
  gatewayUrl: string;
}

export function hostsOf(addresses: PlatformAddresses): string[] {
  return [...new Set(Object.values(addresses).flatMap((url) => (URL.canParse(url) ? [hostnameIn(new URL(url))] : [])))];
}

/** The addresses to which a lambda's calls to the platform are made. */
export function addressesOf(addresses: PlatformAddresses): Address[] {
  return Object.values(addresses).flatMap((url: string) => {
    if (!URL.canParse(url)) return [];
    const { hostname, port, protocol } = new URL(url);
    return [{ host: canonicalHost(hostname), port: Number(port) || (protocol === 'http:' ? 80 : 443) }];
  });
}

/** The variables of the host that a lambda sees (D-113), and that of coverage tools. On Windows nothing starts without the others. */
const HOST_NAMES = ['PATH', 'TZ', 'LANG', 'NODE_V8_COVERAGE'];
const WINDOWS_NAMES = [...HOST_NAMES, 'SystemRoot', 'PATHEXT', 'ComSpec'];

/** Variables that a process reads when it starts and never again. */
const READ_AT_START = /^(NODE_(?!ENV$)|UV_|LD_|DYLD_|SSL_CERT_|OPENSSL_)/;

/** The host's part of a lambda's environment: also all that a process has before it has a lambda. */
export function hostEnvironment(
  host: Readonly<Record<string, string | undefined>>,
  system = SYSTEM,
): Record<string, string> {
  const names = system === 'win32' ? WINDOWS_NAMES : HOST_NAMES;
  return Object.fromEntries(names.flatMap((name) => (host[name] === undefined ? [] : [[name, host[name]]])));
}

/** The whole environment of a lambda (D-113); the user's own values win. */
export function lambdaEnvironment(
  hostEnv: Readonly<Record<string, string>>,
  addresses: PlatformAddresses,
  { home, temporaryFolder: tmp }: { home: string; temporaryFolder: string },
  definition: LambdaDefinition,
  system = SYSTEM,
): Record<string, string> {
  const folders =
    system === 'win32'
      ? { HOME: home, USERPROFILE: home, TMPDIR: tmp, TEMP: tmp, TMP: tmp }
      : { HOME: home, TMPDIR: tmp };
  return {
    ...hostEnv,
    ...folders,
    META_URL: addresses.metaUrl,
    SECURITY_URL: addresses.securityUrl,
    GATEWAY_URL: addresses.gatewayUrl,
    ...definition.env,
  };
}

/** True if a process must be started with that environment, because it would be too late to set it afterwards. */
export function isReadAtStart(env: Readonly<Record<string, string>>): boolean {
  return Object.keys(env).some((name) => READ_AT_START.test(name));
}

const URL_START = /^[a-z][a-z0-9+.-]*:\/\//i;
const LONGEST_PATH = 2_048;

/** The CRM that the lambda's variables or the settings name. */
export function ownCrm(
  env: Readonly<Record<string, string>>,
  settings: readonly string[] = [],
  ownHosts: readonly string[] = [],
): OwnCrm | undefined {
  const named = [env.CRM_API_BASEPATH, ...settings].map(crmHostIn);
  const hosts = named.flatMap((host) => (host && canBeCrm(host.hostname, ownHosts) ? [host] : []));
  return hosts.length === 0 ? undefined : { hosts, formPaths: crmFormPaths(env) };
}

/** The paths of the form at the host of CRM_API_BASEPATH: every one that a variable names (D-200). */
export function crmFormPaths(env: Readonly<Record<string, string>>): string[] {
  const { CRM_API_BASEPATH: base, ...otherVariables } = env;
  const paths = Object.values(otherVariables).flatMap(pathNamedBy);
  const above = base?.trim().replace(/^([a-z][a-z0-9+.-]*:\/\/)?[^/?#]*|[?#].*|\/+$/gi, '') ?? '';
  const below = above === '' ? [] : [above, ...paths.map((path) => `${above}${path}`)].map(pathnameOf);
  return [...new Set([...paths, ...below])];
}

/** The hosts that variables name, each with the paths that other variables name (D-200 b). */
export function namedForms(env: Readonly<Record<string, string>>): NamedForm[] {
  const paths = Object.entries(env).flatMap(([name, value]) =>
    pathNamedBy(value)
      .filter((path) => !URL_START.test(value.trim()) || isKnownForm(path))
      .map((path) => ({ name, path })),
  );
  return Object.entries(env).flatMap(([name, value]) => {
    const host =
      /[.:]/.test(value) && /^([a-z][a-z0-9+.-]*:\/\/)?[^/?#\s@]+\/?$/i.test(value.trim()) && crmHostIn(value);
    const otherPaths = paths.filter((candidate) => candidate.name !== name).map(({ path }) => path);
    return host && otherPaths.length > 0 ? [{ ...host, paths: [...new Set(otherPaths)] }] : [];
  });
}

/** The path in a variable: a whole URL's, or the value itself, also without its first slash. */
function pathNamedBy(value: string): string[] {
  const text = value.trim();
  if (text.length > LONGEST_PATH || /\s/.test(text)) return [];
  const path = pathnameOf(URL_START.test(text) ? text.replace(/^[^/]*\/\/[^/?#]*/, '') : text);
  return path === '/' ? [] : [path];
}

/** The CRM's host (D-200) from a bare host, `host:port` or URL, if it is one; all its ports count without a port or with the usual one. */
export function crmHostIn(basepath: string | undefined): CrmHost | undefined {
  const text = basepath?.trim();
  if (!text) return undefined;
  const url = URL_START.test(text) ? text : `https://${text}`;
  if (!URL.canParse(url)) return undefined;
  const parsed = new URL(url);
  const { port } = parsed;
  const isUsual = port === '' || port === '80' || port === '443';
  return { hostname: hostnameIn(parsed), ...(!isUsual && { port: Number(port) }) };
}
