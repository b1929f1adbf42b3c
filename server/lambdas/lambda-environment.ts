import type { LambdaDefinition } from './lambda-definition.ts';
import type { CrmHost } from './protocol.ts';

/** Addresses that every lambda is told (D-113). */
export interface PlatformAddresses {
  metaUrl: string;
  securityUrl: string;
  gatewayUrl: string;
}

/** Of the host a lambda sees these (D-113); on Windows nothing starts without the others. */
const HOST_NAMES =
  process.platform === 'win32' ? ['PATH', 'TZ', 'LANG', 'SystemRoot', 'PATHEXT', 'ComSpec'] : ['PATH', 'TZ', 'LANG'];

/** Variables that a process reads when it starts and never again. */
const READ_AT_START = /^(NODE_(?!ENV$)|UV_|LD_|DYLD_|SSL_CERT_|OPENSSL_)/;

/** The host's part of a lambda's environment: also all that a process has before it has a lambda. */
export function hostEnvironment(host: Readonly<Record<string, string | undefined>>): Record<string, string> {
  return Object.fromEntries(HOST_NAMES.flatMap((name) => (host[name] === undefined ? [] : [[name, host[name]]])));
}

/** The whole environment of a lambda (D-113); the user's own values win. `home` is HOME, its `tmp` is TMPDIR. */
export function lambdaEnvironment(
  hostEnv: Readonly<Record<string, string>>,
  addresses: PlatformAddresses,
  home: string,
  definition: LambdaDefinition,
): Record<string, string> {
  const folders =
    process.platform === 'win32'
      ? { HOME: home, USERPROFILE: home, TMPDIR: `${home}\\tmp`, TEMP: `${home}\\tmp`, TMP: `${home}\\tmp` }
      : { HOME: home, TMPDIR: `${home}/tmp` };
  return {
    ...hostEnv,
    ...folders,
    META_URL: addresses.metaUrl,
    SECURITY_URL: addresses.securityUrl,
    GATEWAY_URL: addresses.gatewayUrl,
    ...definition.env,
  };
}

/** Does a process have to be started with that environment, because it would be too late to give it afterwards? */
export function isReadAtStart(env: Readonly<Record<string, string>>): boolean {
  return Object.keys(env).some((name) => READ_AT_START.test(name));
}

/**
 * What a CRM_API_BASEPATH names: a bare host, `host:port` or a URL (D-200). Without a port, or with the usual one, all ports of
 * the host are meant. Undefined when it names nothing.
 */
export function crmHostIn(basepath: string | undefined): CrmHost | undefined {
  const text = basepath?.trim();
  if (!text) return undefined;
  const url = /^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `https://${text}`;
  if (!URL.canParse(url)) return undefined;
  const { hostname, port } = new URL(url);
  const isUsual = port === '' || port === '80' || port === '443';
  return { hostname: hostname.replace(/^\[|\]$/g, '').toLowerCase(), ...(!isUsual && { port: Number(port) }) };
}
