import { createHash } from 'node:crypto';
import { decodeSource } from '../../model/decode-text.ts';
import { isJsonObject, type Json, type JsonObject, memberOf } from '../../model/json.ts';
import { typeOfWord } from '../../model/registry.ts';
import { shapeOf } from '../../model/types/schema-parts.ts';
import { optionalMembers } from '../resources/record-builder.ts';
import type { PlatformRecord } from './platform.ts';
import type { TargetSnapshot } from './target-snapshot.ts';

/** Types that are copied, in this order: an endpoint requires both others. */
export type Kind = 'lambda' | 'api' | 'endpoint';

/** A resource in a portable form: names instead of ids, code as text, without members that a server sets. */
export interface ExportableResource {
  /** E.g. `endpoint website/contact`. */
  id: string;
  kind: Kind;
  name: string;
  /** `description`, `tags`, `variables`, and of `properties` what is carried. */
  form: JsonObject & { properties: JsonObject };
  record: PlatformRecord;
  api?: string;
}

/** Properties that are not copied: each platform has its own providers and its own people. */
const STAYING: Record<Kind, readonly string[]> = {
  lambda: ['provider'],
  api: ['provider'],
  endpoint: ['implementation_id'],
};
export const COLLECTIONS = { lambda: 'lambdas', api: 'apis', endpoint: 'apiendpoints' } as const;

/** All that can be copied. @param reportIgnored gets a sentence for each resource or property that cannot be copied */
export function exportablesOf(
  snapshot: TargetSnapshot,
  reportIgnored: (sentence: string) => void,
): ExportableResource[] {
  const secrets = new Map(snapshot.secrets.map(({ id, name }) => [id, name]));
  const nameOfLambda = new Map(snapshot.lambdas.map(({ id, name }) => [id, name]));
  const lambdas = snapshot.lambdas.map((record) => {
    const exportable = exportableOf('lambda', record.name, record, reportIgnored);
    const { properties } = exportable.form;
    if (typeof properties.code === 'string') properties.code = decodeSource(properties.code);
    if (Array.isArray(properties.secrets))
      properties.secrets = properties.secrets.map((mount) => withSecretName(mount, secrets));
    return exportable;
  });
  const apis = snapshot.apis.map((record) => exportableOf('api', record.name, record, reportIgnored));
  const endpoints = snapshot.endpoints.flatMap(({ api, record }) => {
    const name = `${api.name}/${record.name}`;
    const { implementation_id: target, implementation_type: type } = record.properties;
    const lambda = typeof target === 'string' ? nameOfLambda.get(target) : undefined;
    if (type !== 'lambda' || lambda === undefined) {
      reportIgnored(
        `endpoint ${name}, which calls ${type === 'lambda' ? 'a lambda that is not in this environment' : `a ${type}`}`,
      );
      return [];
    }
    const exportable = exportableOf('endpoint', name, record, reportIgnored);
    const { properties } = exportable.form;
    properties.lambda = lambda;
    if (withoutIdentities(properties))
      reportIgnored(`permissions to call endpoint ${name}: grant them on the other platform`);
    return [{ ...exportable, api: api.name }];
  });
  return [...lambdas, ...apis, ...endpoints];
}

function exportableOf(
  kind: Kind,
  name: string,
  record: PlatformRecord,
  reportIgnored: (sentence: string) => void,
): ExportableResource {
  const { properties: schema, serverSet = [] } = typeOfWord(COLLECTIONS[kind]);
  const shape = shapeOf(schema);
  const isCarried = (property: string) => Object.hasOwn(shape, property) && !STAYING[kind].includes(property);
  const ignored = new Set([...STAYING[kind], ...serverSet, 'parent', 'apiendpoints']);
  const properties: JsonObject = {};
  for (const [property, value] of Object.entries(record.properties)) {
    if (isCarried(property)) properties[property] = structuredClone(value);
    else if (!ignored.has(property))
      reportIgnored(`'${property}' of ${kind} ${name}, which Terrarium does not support`);
  }
  return { id: `${kind} ${name}`, kind, name, form: { ...optionalMembers(record), properties }, record };
}

function withSecretName(mount: Json, secrets: ReadonlyMap<string, string>): Json {
  if (!isJsonObject(mount) || typeof mount.secret_id !== 'string') return mount;
  const { secret_id: id, ...rest } = mount;
  return { secret: secrets.get(id) ?? id, ...rest };
}

function withoutIdentities({ plugins }: JsonObject): boolean {
  const security = memberOf(plugins, 'platformSecurity');
  if (!isJsonObject(security)) return false;
  const { users, groups } = security;
  delete security.users;
  delete security.groups;
  return [users, groups].some((list) => Array.isArray(list) && list.length > 0);
}

/** Returns a digest that does not depend on the order of members. */
export function digestOf(value: unknown): string {
  return createHash('sha256').update(sortedJson(value)).digest('hex');
}

function sortedJson(value: unknown): string {
  return JSON.stringify(value, (_, member) =>
    isJsonObject(member) ? Object.fromEntries(Object.entries(member).sort(([a], [b]) => (a < b ? -1 : 1))) : member,
  );
}
