import type { PlatformRecord } from '../../api/use-world.ts';

/** The address at which this machine can reach a container. */
export interface ContainerAddress {
  /** Short, for a row: the path behind the gateway, or the port. */
  text: string;
  href: string;
  kind: 'endpoint' | 'port';
  /** Name of the endpoint, or of the port mapping. */
  name: string;
}

/**
 * The public addresses of the endpoints that lead to a container, then the ports of the emulator's own that do (D-047).
 *
 * @param host name of the emulator's host, as this page reaches it
 */
export function addressesOf(
  record: PlatformRecord,
  endpoints: readonly PlatformRecord[],
  host: string,
): ContainerAddress[] {
  const gatewayAddresses = endpoints.flatMap(({ name, properties }): ContainerAddress[] => {
    const { implementation_id: target, public_url: url } = properties;
    if (target !== record.id || typeof url !== 'string' || !URL.canParse(url)) return [];
    return [{ kind: 'endpoint', name, href: url, text: new URL(url).pathname }];
  });
  const { port_mappings: mappings } = record.properties;
  const ports = (Array.isArray(mappings) ? mappings : []).flatMap((mapping: unknown): ContainerAddress[] => {
    const { service_port: port, name } = Object(mapping);
    if (typeof port !== 'number') return [];
    return [
      { kind: 'port', name: typeof name === 'string' ? name : 'tcp', href: `http://${host}:${port}`, text: `:${port}` },
    ];
  });
  return [...gatewayAddresses, ...ports];
}
