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

/** Is that a POST of a form to a CRM: at a known form endpoint, or where variables name both host and path (D-200 b, c)? */
export function isCrmForm({ method, url, contentType }: RequestHead, named: readonly NamedForm[]): boolean {
  if (method !== 'POST' || !URL.canParse(url)) return false;
  if (contentType !== undefined && !FORM_TYPE.test(contentType)) return false;
  const parsed = new URL(url);
  const path = pathnameOf(url.replace(/^[^/]*\/\/[^/?#]*/, ''));
  if (isKnownForm(path)) return true;
  const hostname = hostnameIn(parsed);
  const port = Number(parsed.port) || (parsed.protocol === 'http:' ? 80 : 443);
  return named.some(
    (form) =>
      form.hostname === hostname && (form.port === undefined || form.port === port) && form.paths.includes(path),
  );
}

/** Can a host be that of a CRM? Loopback and the platform's own addresses never are. */
export function canBeCrm(hostname: string, ownHosts: readonly string[]): boolean {
  return (
    !/^(localhost|.*\.localhost|127\..*|0\.0\.0\.0|::1?|::ffff:(127\.|7f).*)$/.test(hostname) &&
    !ownHosts.includes(hostname)
  );
}

/** What the author of a lambda has to know of a form that reached no CRM or, not caught, a real one; undefined for other calls. */
export function formWarning(call: OutboundCall, ownHosts: readonly string[]): string | undefined {
  const { method, url, status, caughtBy, request, rules = [] } = call;
  if (method !== 'POST' || !request || !URL.canParse(url)) return undefined;
  const { host, pathname } = new URL(url);
  if (caughtBy === 'crm') {
    if (status !== 404) return undefined;
    return `the form for ${host} was posted to ${pathname}, a path that no variable of the lambda names, and no lead was created: set a variable (such as CRM_PATH) to ${pathname}`;
  }
  if (rules.length > 0 || request.contentEncoding !== undefined) return undefined;
  if (request.contentType !== undefined && !FORM_TYPE.test(request.contentType)) return undefined;
  const [, encoded, part] = CRM_FIELD.exec(Buffer.from(request.bytes).toString('latin1')) ?? [];
  const field = encoded ?? part;
  if (field === undefined || !canBeCrm(hostnameIn(new URL(url)), ownHosts)) return undefined;
  return `a CRM form (with the field '${field}') was sent to ${host} and was not caught: set CRM_API_BASEPATH of the lambda to ${host} to have the mock CRM take it`;
}
