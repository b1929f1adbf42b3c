import { z } from 'zod';
import { invalid } from '../errors.ts';
import { elementsOf, isJsonObject, type Json, type JsonObject } from '../json.ts';
import type { StoredResource, Uuid } from '../record.ts';
import { stringMap } from './schema-parts.ts';

const port = z.int().min(0).max(65535);
const exposure = z.enum(['internal', 'external', 'loadBalancer']);

/** Schema of `port_mappings` (D-046). The server assigns the service address. */
export const portMappings = z.array(
  z
    .looseObject({
      protocol: z.enum(['tcp', 'udp']),
      container_port: port.min(1).optional().describe('Required if expose_endpoint is true'),
      host_port: port.optional().describe('Stored only'),
      service_port: port.optional(),
      lb_port: port.optional().describe('Port of the service address (default: container_port)'),
      name: z
        .string()
        .regex(/^[a-z0-9]([a-z0-9-]*[a-z0-9])?$/, 'must consist of lower-case letters, digits and inner hyphens')
        .max(15)
        .optional()
        .describe('Name that endpoints refer to; unique in the container'),
      labels: stringMap.optional(),
      expose_endpoint: z.boolean().optional().describe('Endpoints can use the port, and it gets a service address'),
      virtual_hosts: z.array(z.string()).optional(),
      type: z
        .union([exposure, z.array(exposure).length(1)], `must be one of ${exposure.options.join(', ')}`)
        .optional()
        .describe('external and loadBalancer also publish the port as a TCP port of this machine'),
    })
    .overwrite(({ service_address: _, ...mapping }) => mapping),
);

function mappingsOf(properties: JsonObject): JsonObject[] {
  return elementsOf(properties.port_mappings).filter(isJsonObject);
}

/** To store (D-047): an exposed one has `lb_port` and `type`. Throws 400 for a duplicate name or an exposed one without container_port. */
export function validatePortMappings(properties: JsonObject): JsonObject[] {
  const names = new Set<Json>();
  return mappingsOf(properties).map((mapping, index) => {
    const at = `/properties/port_mappings/${index}`;
    const { lb_port: sentPort, type: sentType, ...rest } = mapping;
    if (rest.name !== undefined && names.has(rest.name)) throw invalid(`${at}/name`, 'is used by another port mapping');
    if (rest.name !== undefined) names.add(rest.name);
    if (rest.expose_endpoint !== true) return rest;
    if (rest.container_port === undefined) {
      throw invalid(`${at}/container_port`, 'is required when expose_endpoint is true');
    }
    return { ...rest, lb_port: sentPort || rest.container_port, type: sentType ?? 'internal' };
  });
}

interface ServiceAddress extends JsonObject {
  host: string;
  port: number;
  protocol: string;
}

function serviceAddress(name: string, environmentId: Uuid | null, mapping: JsonObject): ServiceAddress | undefined {
  const { expose_endpoint: exposed, lb_port: lbPort, protocol } = mapping;
  if (exposed !== true || typeof lbPort !== 'number' || typeof protocol !== 'string') return undefined;
  return { host: `${name}.${environmentId}.svc.cluster.local`, port: lbPort, protocol };
}

/** The service address of the port mapping with that name; undefined if the mapping does not exist or is not exposed. */
export function findServiceAddress(container: StoredResource, portName: Json | undefined): ServiceAddress | undefined {
  const mapping = mappingsOf(container.properties).find(({ name }) => name !== undefined && name === portName);
  return mapping && serviceAddress(container.name, container.parent, mapping);
}

export function toPortMappingsView({ name, parent, properties }: StoredResource): JsonObject[] {
  return mappingsOf(properties).map((mapping) => {
    const address = serviceAddress(name, parent, mapping);
    return { ...mapping, ...(address && { service_address: address }) };
  });
}

export function portNameOf({ name, container_port: port }: JsonObject): string {
  return typeof name === 'string' ? name : String(port);
}

/** Names of the ports of a container that the platform publishes on separate TCP ports (D-047). */
export function servicePortNames({ properties }: StoredResource): string[] {
  const isOutside = (type: Json | undefined) => ['external', 'loadBalancer'].includes(String(type));
  return mappingsOf(properties)
    .filter(
      ({ expose_endpoint: isExposed, protocol, type }) => isExposed === true && protocol === 'tcp' && isOutside(type),
    )
    .map(portNameOf);
}
