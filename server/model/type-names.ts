import type { Uuid } from './record.ts';

/** Without the configurable prefix (D-081). The ids are part of the contract: add entries, but never change them. */
const typeIds = {
  'Resource::Organization': '23ba3299-b04e-4c5c-9b3d-64939b22944e',
  'Resource::Workspace': 'fa17bae4-1294-42cc-93cc-c4ead7dc0343',
  'Resource::Environment': '46b28076-9d94-4860-9aca-e8483a56d32c',
  'Resource::Container': '28cbf0e0-2c48-4589-85d5-df97a3a1f318',
  'Resource::Job': 'c8ce1302-6f66-4300-8429-2574abf28d81',
  'Resource::Node::Lambda': 'e3a463fc-e51f-4166-8cec-3d9a54f7babd',
  'Resource::Api': 'df4bf8b5-170f-453e-9526-c37c898d96c9',
  'Resource::ApiEndpoint': '35977435-aafe-41cf-8732-71fc9b0ceb92',
  'Resource::Policy': 'c3c05a39-acb3-4a45-97a8-5696ad1b4214',
  'Resource::Rule': '3c655fa1-191e-4313-b825-7335d6a86002',
  'Resource::Rule::Event': '659df89f-fb8b-425a-926f-b73613e1a3fa',
  'Resource::Rule::Limit': '95ebef95-5218-4ca7-bf79-9d5746863e2d',
  'Resource::Entitlement': 'cb119b8b-6424-461c-ad52-ff10853872f9',
  'Resource::User': '58b6775d-37a5-44bc-9115-7331fc4964b7',
  'Resource::Group': 'ad4c7258-1896-45bf-8ec8-c875dcc7654e',
  'Resource::Secret': '98d8a6d6-e3db-488f-b32d-8b00b3fce472',
  'Resource::Volume': '24361db7-0fc0-4be5-9973-d88d5602956f',
  'Resource::Configuration::DataFeed': '8f875ffc-69ff-48c8-9d6d-f3622b7b1062',
  'Resource::Spec::StreamSpec': 'e9e90e0a-4f87-492e-afcc-2cd84057f226',
  'Configuration::AppDeployment': 'e97d8674-848a-487e-b640-823fdc39fa10',
  'Resource::UserProfile': 'b9e3c356-b6d8-4561-a20a-398b5cd8d62d',
  'Resource::Task': '57a02f53-abbe-4e85-9857-de34a9aee411',
  'Resource::License': '76bc215f-a1b4-4527-9ea6-4e9e06b5bbb8',
  'Resource::Domain': '17142ace-0669-4101-bf21-05ecabe4e0b2',
  'Resource::DataContainer': '45bc59bf-e6b7-4537-b685-a7aa32f56ddd',
  'Configuration::Provider': '5542148a-5568-4df2-a411-4b6c7248bc83',
  'Configuration::Provider::CaaS': '3dbb87c6-c1e4-4a8d-bbca-5400853e2c5b',
  'Configuration::Provider::CaaS::Docker': '38b628fd-ad08-4656-b012-65e5ad78d7ee',
  'Configuration::Provider::CaaS::Kubernetes': 'df942ef5-5aae-4e9b-9337-9ae98887f105',
  'Configuration::Provider::CaaS::DCOS': '5b1a6e3a-246f-4ac6-af03-087a22d5b0cb',
  'Configuration::Provider::CaaS::Swarm': '2956b133-772a-477b-a6ec-7f869b21f970',
  'Configuration::Provider::CaaS::ECS': '8406d8e0-4b7e-49f1-acf7-04c519ca9dca',
  'Configuration::Provider::Lambda': '3721b0dd-5541-4f65-8cff-cd15df9dccae',
  'Configuration::Provider::Lambda::AWS': '53261b96-2ab4-49d2-bada-0d4b55661b5c',
  'Configuration::Provider::Lambda::Executor': 'd4bb5e7c-0b8a-49a7-92b5-696fb3e56c89',
  'Configuration::Provider::Lambda::Executor::NodeJS': '723588b4-3b3a-4dd3-9677-20fd877162e5',
  'Configuration::Provider::Lambda::Executor::JavaScript': '632f0edd-055e-40df-b764-05fe11224f22',
  'Configuration::Provider::Lambda::Executor::Java': 'fb124124-4a9e-4ef9-b383-32f7637e3034',
  'Configuration::Provider::Lambda::Executor::Python': '4ef99fa3-302c-4f64-98e5-b2bc10bd0734',
  'Configuration::Provider::Lambda::Executor::Ruby': 'd041f9fd-6c36-47fa-8fd9-60dbc34a940d',
  'Configuration::Provider::Lambda::Executor::DotNet': 'f85ea7c0-4e9b-4aa4-be6a-f89ebc2eeb92',
  'Configuration::Provider::Lambda::Executor::GoLang': '1e8a2c50-4295-49e0-a547-c88c881d0d5e',
  'Configuration::Provider::Lambda::Executor::Bash': '5a1bba1c-43f8-4c5a-bc89-c88f761ae777',
  'Configuration::Provider::GatewayManager': '4ad69fa9-2812-450e-9b32-10134f7deb00',
  'Configuration::Provider::GatewayManager::AWS': '4262ea0f-6f04-4ea9-b4b8-5ad2d75f8478',
  'Configuration::Provider::Kong': '46a2127a-1b50-4e2c-8291-eb6f61cff3a5',
  'Configuration::Provider::Logging': 'e1782fef-4b7c-4f75-b8b8-6e6e2ecd82b2',
  'Configuration::Provider::Policy': '30726193-d55b-43d7-947d-1a1f8ebe466e',
  'Configuration::Provider::Security': '8574639e-3cfb-4b4d-ac6f-325784006177',
  'Configuration::Provider::Data': 'f0f55153-b5b7-419a-ae4e-6115f06f733f',
  'Configuration::Provider::Data::PostgreSQL': 'ce2b8288-fb5b-406a-be19-128f0363e917',
  'Configuration::Provider::Messaging': '68fca9b8-d671-4087-b8ec-89f9f5a349b6',
  'Configuration::Provider::Messaging::RabbitMQ': '92a3425e-ee9d-4e51-93b9-cfea2701735e',
  'Configuration::Provider::ActionProvider': 'b793e3d5-1ea1-4af9-b9f1-27cf52a033b1',
  'Configuration::Provider::StreamProvider': 'b7f764be-9ae6-4f70-9c42-849cc881125f',
  'Configuration::Provider::Catalog': '13e40777-52f5-4768-bbc4-a08128fcae3b',
  'Configuration::Provider::Git': '8b3d347a-cd8f-4491-afe9-e8c7ed042317',
} as const satisfies Record<string, Uuid>;

export type TypeName = keyof typeof typeIds;

/** All type names without the prefix, including abstract ones, in the order of the table. */
// Object.keys forgets the key type of a const object.
const names = Object.keys(typeIds) as TypeName[];
export const typeNames: readonly TypeName[] = names;

const idByName = new Map<string, Uuid>(Object.entries(typeIds));
const nameById = new Map<string, TypeName>(typeNames.map((name) => [typeIds[name], name]));

/** Adds the name of a registered type (`registry.ts`). Throws if the table has it with another id. */
export function addTypeName(name: string, id: Uuid): void {
  const existingId = idByName.get(name);
  if (existingId !== undefined && existingId !== id) throw new Error(`'${name}' already has the id ${existingId}`);
  if (existingId !== undefined) return;
  const added = name as TypeName; // now in the table
  names.push(added);
  idByName.set(added, id);
  nameById.set(id, added);
}

function isTypeName(name: string): name is TypeName {
  return idByName.has(name);
}

export function typeIdOf(name: string): Uuid {
  const id = idByName.get(name);
  if (id === undefined) throw new Error(`'${name}' is not in the table of type names`);
  return id;
}

/** The type for a full name with any first segment, or for a type's UUID (D-080); undefined if it does not exist. */
export function parseTypeName(text: string): TypeName | undefined {
  const [, name] = /^[^:]*::(.*)$/s.exec(text) ?? [];
  return name !== undefined && isTypeName(name) ? name : nameById.get(text.toLowerCase());
}

/** The full name with the configured prefix, as in all output (D-080). */
export function fullNameOf(name: string, prefix: string): string {
  return `${prefix}::${name}`;
}

export const USER = 'Resource::User';
export const PROVIDER = 'Configuration::Provider';
export const RULE = 'Resource::Rule';

export function isKindOf(type: string, ancestor: TypeName): boolean {
  return type === ancestor || type.startsWith(`${ancestor}::`);
}

/** The possible type names of records: the type itself, or all sub-types of an abstract type (D-085). */
export function concreteTypes(name: TypeName): readonly TypeName[] {
  if (name !== PROVIDER && name !== RULE) return [name];
  return typeNames.filter((candidate) => candidate !== name && isKindOf(candidate, name));
}

const EXECUTOR = 'Configuration::Provider::Lambda::Executor';
/** Types that include their sub-types in `?type=` (D-065). */
const groups: readonly TypeName[] = [
  PROVIDER,
  'Configuration::Provider::CaaS',
  'Configuration::Provider::Lambda',
  EXECUTOR,
  'Configuration::Provider::Data',
  'Configuration::Provider::Messaging',
];

function groupMembers(name: TypeName): readonly TypeName[] {
  if (!groups.includes(name)) return [name];
  const members = typeNames.filter((candidate) => candidate !== PROVIDER && isKindOf(candidate, name));
  return name === 'Configuration::Provider::Lambda' ? members.filter((member) => !isKindOf(member, EXECUTOR)) : members;
}

/** For `?type=` (D-065): a suffix of the name (`CaaS`, `CaaS::Docker`, `Executor`), a full name or a UUID; empty for an unknown type. */
export function providerTypesMatching(text: string): ReadonlySet<string> {
  const exact = parseTypeName(text);
  const named = exact ? [exact] : typeNames.filter((name) => name.endsWith(`::${text}`));
  return new Set(named.filter((name) => isKindOf(name, PROVIDER)).flatMap(groupMembers));
}
