/** What can be done with a call that a lambda makes: `delay` waits, then the rules below it go on deciding. */
export const OUTBOUND_ACTIONS = ['catch', 'pass', 'block', 'delay', 'fail'] as const;
export type OutboundAction = (typeof OUTBOUND_ACTIONS)[number];

/** Ways in which a network fails, by the codes that Node gives them. */
export const NETWORK_ERRORS = ['ECONNREFUSED', 'ECONNRESET', 'ENOTFOUND', 'ETIMEDOUT'] as const;
export type NetworkError = (typeof NETWORK_ERRORS)[number];

/** A rule's `host` that means: whatever the calling lambda's own CRM_API_BASEPATH names (D-200). */
export const OWN_CRM = '{crm}';

/** One rule about calls of lambdas to other hosts; the first enabled one that meets a call decides. */
export interface OutboundRule {
  id: string;
  /** A host, `*` for any part of it, with a port if it is to be that one: `api.example`, `*.example:8443`; or `{crm}`. */
  host: string;
  action: OutboundAction;
  /** Of `delay`: how long the call waits, milliseconds. */
  delayMs?: number;
  /** Of `fail`: the status that it is answered. */
  status?: number;
  /** Of `fail`: the way in which the connection fails. */
  error?: NetworkError;
  enabled: boolean;
}

/** Whom a call is for. */
export interface OutboundTarget {
  /** Lower case, an IPv6 address without its brackets. */
  hostname: string;
  port: number;
  /** Is it the host that the lambda's CRM_API_BASEPATH names? */
  isCrm: boolean;
}

/** A rule that met a call, as it was then. (A type, not an interface: it is to count as JSON.) */
export type MetRule = {
  id: string;
  /** The rule in words. */
  text: string;
};

/** What becomes of a call. */
export interface OutboundVerdict {
  action: Exclude<OutboundAction, 'delay'>;
  /** How long it waits first. */
  delayMs: number;
  status?: number;
  error?: NetworkError;
  /** Those that decided it, in order; empty for what the configuration says. */
  rules: MetRule[];
}

/**
 * What becomes of a call; undefined when it is left entirely to itself. Delays add up until another rule decides; where none
 * does, calls to the CRM are caught if `catchesCrm` (configuration `outbound.crm`), and all others pass.
 */
export function decideOutbound(
  rules: readonly OutboundRule[],
  target: OutboundTarget,
  catchesCrm: boolean,
): OutboundVerdict | undefined {
  const met: MetRule[] = [];
  let delayMs = 0;
  for (const rule of rules) {
    const { id, action, status, error } = rule;
    if (!rule.enabled || !meets(rule.host, target)) continue;
    met.push({ id, text: describeRule(rule) });
    if (action !== 'delay') {
      return { action, delayMs, ...(status !== undefined && { status }), ...(error && { error }), rules: met };
    }
    delayMs += rule.delayMs ?? 0;
  }
  const action = target.isCrm && catchesCrm ? 'catch' : 'pass';
  return action === 'catch' || met.length > 0 ? { action, delayMs, rules: met } : undefined;
}

/** A rule in words: `delay of 3000 ms for {crm}`. */
export function describeRule({ host, action, delayMs, status, error }: Omit<OutboundRule, 'id' | 'enabled'>): string {
  if (action === 'delay') return `delay of ${delayMs} ms for ${host}`;
  return action === 'fail' ? `fail with ${status ?? error} for ${host}` : `${action} for ${host}`;
}

/** A pattern with more of them is slow to compare, and no host needs it. */
const MAX_STARS = 4;
const PATTERN = /^(\{crm\}|([A-Za-z0-9._*-]+|\[[0-9A-Fa-f:.]+\])(:\d{1,5})?)$/;

/** What is wrong with the text as a rule's `host`; undefined when nothing is. */
export function faultOfHost(text: string): string | undefined {
  if (text.length > 255 || !PATTERN.test(text)) return `is no host such as api.example, *.example:8443 or ${OWN_CRM}`;
  return text.split('*').length > MAX_STARS + 1 ? `has more than ${MAX_STARS} stars` : undefined;
}

/** Does the pattern of a rule mean this host? */
export function meets(pattern: string, { hostname, port, isCrm }: OutboundTarget): boolean {
  if (pattern === OWN_CRM) return isCrm;
  const [, host = '', wantedPort] = /^(\[[^\]]*\]|.*?)(?::(\d+))?$/.exec(pattern.toLowerCase()) ?? [];
  if (wantedPort !== undefined && Number(wantedPort) !== port) return false;
  const parts = host.replace(/^\[|\]$/g, '').split('*');
  return new RegExp(`^${parts.map((part) => part.replace(/[^a-z0-9]/g, '\\$&')).join('.*')}$`).test(hostname);
}
