import { leadsToThisMachine } from './host-names.ts';
import type { OutboundCall } from './invocation.ts';

/** On an intercepted call to the form path of a CRM, because a variable of the lambda names that path. */
export const FORM_HEADER = 'x-terrarium-form';

const KNOWN_FORM = /^\/servlet\/servlet\.webto(lead|case)$/i;

/** Content types of forms; text is what libraries say of a string that has no type. */
const FORM_TYPE = /^(application\/x-www-form-urlencoded|multipart\/form-data|text\/plain)\b/i;

/** Fields by which a form for a CRM is recognized: URL-encoded or as parts of a multipart body. */
const CRM_FIELD = /(?:^|&)(oid|orgid|lead_source|retURL)=|name="?(oid|orgid|lead_source|retURL)"?[\r\n;]/;

/** A host that a variable of a lambda names, and the paths that its other variables name. */
export interface NamedForm {
  /** Lower case, an IPv6 address without its brackets. */
  hostname: string;
  /** Only calls to this port, when the variable names one. */
  port?: number;
  paths: readonly string[];
}

export interface RequestHead {
  method: string;
  url: string;
  contentType?: string | undefined;
}

/** The path of a request target or a variable, normalized and without query. */
export function pathnameOf(target: string): string {
  const url = `http://host/${target.replace(/^\//, '')}`;
  return URL.canParse(url) ? new URL(url).pathname : '/';
}

export function isKnownForm(target: string): boolean {
  return KNOWN_FORM.test(pathnameOf(target));
}

export function hostnameIn({ hostname }: URL): string {
  return hostname.replace(/^\[|\]$/g, '').toLowerCase();
}

/** Tells whether a request is a POST to a known form endpoint, or of a form to a host and path that variables name (D-200 b, c). */
export function isCrmForm({ method, url, contentType }: RequestHead, named: readonly NamedForm[]): boolean {
  if (method !== 'POST' || !URL.canParse(url)) return false;
  const parsed = new URL(url);
  const path = pathnameOf(url.replace(/^[^/]*\/\/[^/?#]*/, ''));
  if (isKnownForm(path)) return true;
  if (contentType !== undefined && !FORM_TYPE.test(contentType)) return false;
  const hostname = hostnameIn(parsed);
  const port = Number(parsed.port) || (parsed.protocol === 'http:' ? 80 : 443);
  return named.some(
    (form) =>
      form.hostname === hostname && (form.port === undefined || form.port === port) && form.paths.includes(path),
  );
}

/** Can a host be that of a CRM? Loopback and the platform's own addresses never are. */
export function canBeCrm(hostname: string, ownHosts: readonly string[]): boolean {
  return !leadsToThisMachine(hostname) && !ownHosts.includes(hostname);
}

/** Facts of the platform; a warning that does not need the hosts does not read them, because finding them takes time. */
interface CrmFacts {
  /** Hosts of the platform, which are never a CRM's. */
  readonly ownHosts: readonly string[];
  /** False with `outbound.crm: pass`. */
  readonly catchesCrm: boolean;
}

const MAX_REASON_LENGTH = 500;

/** Returns what the author of a lambda has to know about a form that a CRM rejects or that was not caught; undefined for other calls. */
export function formWarning(
  call: OutboundCall,
  platform: CrmFacts,
  env: Readonly<Record<string, string>>,
): string | undefined {
  const { method, url, status, caughtBy, request, rules = [] } = call;
  if (method !== 'POST' || !URL.canParse(url)) return undefined;
  const basepathFault = faultOfBasepath(url, env.CRM_API_BASEPATH?.trim() ?? '');
  if (basepathFault !== undefined && (status === undefined || status >= 400)) return basepathFault;
  if (status === undefined) return undefined; // it is not known whether a form has been sent
  if (caughtBy === 'crm') return rejectionOf(call, status);
  if (rules.length > 0 || !request || request.contentEncoding !== undefined) return undefined;
  if (request.contentType !== undefined && !FORM_TYPE.test(request.contentType)) return undefined;
  const [, encoded, part] = CRM_FIELD.exec(Buffer.from(request.bytes).toString('latin1')) ?? [];
  const field = encoded ?? part;
  const { host } = new URL(url);
  if (field === undefined || !canBeCrm(hostnameIn(new URL(url)), platform.ownHosts)) return undefined;
  const fact = `a CRM form (with the field '${field}') was sent to ${host} and was not caught`;
  if (!platform.catchesCrm) return `${fact}, because the setting outbound.crm is 'pass'`;
  return env.CRM_API_BASEPATH?.trim() === host
    ? fact
    : `${fact}: set CRM_API_BASEPATH of the lambda to ${host} to have the mock CRM take it`;
}

function rejectionOf({ url, response }: OutboundCall, status: number): string | undefined {
  const { host, pathname } = new URL(url);
  if (status === 404) {
    if (pathname.startsWith('//'))
      return `the form for ${host} was posted to ${pathname}, and no lead was created: remove one of the two slashes at the start of the path`;
    const path = pathname === '/' ? 'the path of the form' : pathname;
    return `the form for ${host} was posted to ${pathname}, a path that no variable of the lambda names, and no lead was created: set a variable (such as CRM_PATH) to ${path}`;
  }
  if (status < 400) return undefined;
  const isText = response?.contentType?.startsWith('text/plain') && response.contentEncoding === undefined;
  const reason = response && isText ? Buffer.from(response.bytes).toString().trim().slice(0, MAX_REASON_LENGTH) : '';
  return `the mock CRM rejected the form with status ${status}${reason && `: ${reason}`}`;
}

/** Returns why an address that was put together from CRM_API_BASEPATH is wrong: the variable contains more than a host. */
function faultOfBasepath(url: string, basepath: string): string | undefined {
  const { hostname, pathname } = new URL(url);
  const [, scheme, host = ''] = /^(?:([a-z][a-z0-9+.-]*):\/\/)?([^/?#]*)/i.exec(basepath) ?? [];
  if (scheme !== undefined && hostname === scheme.toLowerCase() && pathname.startsWith(`//${host}`))
    return `CRM_API_BASEPATH is a URL and the lambda puts a scheme before it, so the form was posted to the host '${hostname}': set CRM_API_BASEPATH to the host alone, ${host}`;
  if (basepath.endsWith('/') && pathname.startsWith('//'))
    return `CRM_API_BASEPATH ends with a slash, so the form was posted to ${pathname}: set CRM_API_BASEPATH to ${basepath.replace(/\/+$/, '')}`;
  return undefined;
}
