import type { OutboundTarget } from '../../model/outbound-rule.ts';
import type { CrmHost } from '../protocol.ts';

type Named = { hostname?: unknown; host?: unknown; port?: unknown; protocol?: unknown };

const USUAL_PORTS: Readonly<Record<string, number>> = { 'http:': 80, 'https:': 443 };

/**
 * Whom a call is for, by the arguments of http.request, of fetch and the like; undefined when they name no host.
 *
 * @param protocol of the function: `https:` for https.request
 */
export function targetOf(
  [first, second]: readonly unknown[],
  protocol: string,
  crm: CrmHost | undefined,
): OutboundTarget | undefined {
  const named = [partsIn(second), partsIn(first), urlIn(first)];
  const text = named.map((parts) => parts.hostname ?? parts.host).find((host) => typeof host === 'string' && host);
  if (typeof text !== 'string') return undefined;
  const hostname = text.toLowerCase().replace(/^\[|\]$/g, '');
  const spoken = named.map((parts) => parts.protocol).find((one) => typeof one === 'string' && one in USUAL_PORTS);
  const port = named.map((parts) => Number(parts.port)).find((number) => number > 0);
  const isCrm = crm !== undefined && hostname === crm.hostname && (crm.port === undefined || port === crm.port);
  return { hostname, port: port ?? USUAL_PORTS[String(spoken ?? protocol)] ?? 443, isCrm };
}

/** An object of options, or a URL object: they have the same names. */
function partsIn(value: unknown): Named {
  return typeof value === 'object' && value !== null ? value : {};
}

/** A URL as text, or that of a Request. */
function urlIn(value: unknown): Named {
  const text = typeof value === 'object' && value !== null && 'url' in value ? value.url : value;
  return typeof text === 'string' && URL.canParse(text) ? new URL(text) : {};
}
