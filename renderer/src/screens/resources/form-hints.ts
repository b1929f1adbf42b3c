import type { TypeWord } from '../../../../server/model/type-words.ts';

type Properties = Readonly<Record<string, unknown>>;

/** What one nearly always wants to see of a type, in the order in which one thinks of it. */
const LEADING: Partial<Record<TypeWord, readonly string[]>> = {
  environments: ['environment_type', 'env'],
  orgs: ['env'],
  workspaces: ['env'],
  containers: [
    'container_type',
    'image',
    'provider',
    'num_instances',
    'cpus',
    'memory',
    'cmd',
    'env',
    'port_mappings',
    'volumes',
    'secrets',
  ],
  jobs: ['container_type', 'image', 'provider', 'cmd', 'cpus', 'memory', 'env', 'volumes', 'secrets'],
  lambdas: [
    'provider',
    'runtime',
    'code_type',
    'code',
    'package_url',
    'compressed',
    'handler',
    'memory',
    'timeout',
    'env',
    'secrets',
  ],
  apis: ['provider'],
  apiendpoints: [
    'resource',
    'implementation_type',
    'implementation_id',
    'container_port_name',
    'methods',
    'synchronous',
    'is_http_aware',
    'plugins',
  ],
  providers: ['environment_types', 'linked_providers', 'config'],
  users: ['password', 'firstName', 'lastName', 'email', 'phoneNumber', 'platform_home'],
  groups: ['users'],
  rules: ['match_actions', 'lambda', 'eval_logic', 'strict'],
  secrets: ['provider', 'items'],
  volumes: ['type', 'provider', 'config', 'size', 'access_mode'],
};

/** The properties that lead a type's form. */
export function leadingProperties(word: TypeWord): readonly string[] {
  return LEADING[word] ?? [];
}

/** On what it depends whether a property has a meaning, and then has to be there (D-057, D-060, D-076, D-079). */
interface Condition {
  isMet(properties: Properties, subType: string | undefined): boolean;
  isRequired?: boolean;
}

const isPackage = ({ code_type }: Properties) => String(code_type).toLowerCase() === 'package';
const isOfContainer = ({ implementation_type }: Properties) => implementation_type === 'container';
const isLimit = (_properties: Properties, subType: string | undefined) => subType?.endsWith('::Limit') === true;
const isEvent = (_properties: Properties, subType: string | undefined) => subType?.endsWith('::Event') === true;

const CONDITIONS: Partial<Record<TypeWord, Readonly<Record<string, Condition>>>> = {
  lambdas: {
    code: { isMet: (properties) => !isPackage(properties), isRequired: true },
    package_url: { isMet: isPackage, isRequired: true },
    compressed: { isMet: isPackage },
  },
  apiendpoints: { container_port_name: { isMet: isOfContainer, isRequired: true } },
  rules: {
    lambda: { isMet: isEvent, isRequired: true },
    eval_logic: { isMet: isLimit, isRequired: true },
    strict: { isMet: isLimit },
  },
  volumes: { config: { isMet: ({ type }) => type === 'host_path', isRequired: true } },
};

/**
 * What the other properties say of one: `unused` has no meaning beside them, `required` has to be there.
 *
 * @param subType full name of the type, where it has sub-types and it is known
 */
export function conditionOf(
  word: TypeWord,
  name: string,
  properties: Properties,
  subType: string | undefined,
): 'unused' | 'required' | 'optional' {
  const condition = CONDITIONS[word]?.[name];
  if (!condition) return 'optional';
  if (!condition.isMet(properties, subType)) return 'unused';
  return condition.isRequired ? 'required' : 'optional';
}

/** What goes when a property becomes another: it named something of the old kind. */
const NAMED_BY: Readonly<Record<string, readonly string[]>> = {
  implementation_type: ['implementation_id', 'container_port_name'],
  implementation_id: ['container_port_name'],
};

/** The properties with one changed (undefined: taken away), and without what the change has made meaningless. */
export function withProperty(word: TypeWord, properties: Properties, name: string, next: unknown) {
  const gone = word === 'apiendpoints' && properties[name] !== next ? (NAMED_BY[name] ?? []) : [];
  return changed(properties, name, next, (one) => !gone.includes(one));
}

/** The entry of a list of links; the server fills in the rest of it (D-063). */
const LINK = /^\/properties\/linked_providers\/\d+$/;
const FILLED_IN: ReadonlySet<string> = new Set(['name', 'type', 'typeId']);

/** Is it a member that only the server writes, somewhere inside the properties? */
export function isFilledIn(pointer: string, member: string): boolean {
  return LINK.test(pointer) && FILLED_IN.has(member);
}

/** An object somewhere inside the properties with one member changed (undefined: taken away). */
export function withMember(pointer: string, object: Properties, member: string, next: unknown) {
  // What the server filled in tells of what it named before.
  return changed(object, member, next, (name) => !(member === 'id' && isFilledIn(pointer, name)));
}

/** With one member changed where it stands: one that moved to the end would look like another. */
function changed(object: Properties, name: string, next: unknown, isKept: (name: string) => boolean) {
  const members = Object.entries(object)
    .filter(([one]) => one === name || isKept(one))
    .map(([one, value]) => [one, one === name ? next : value] as const);
  if (!Object.hasOwn(object, name)) members.push([name, next]);
  return Object.fromEntries(members.filter(([, value]) => value !== undefined));
}
