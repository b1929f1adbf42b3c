import {
  Box,
  Boxes,
  Building2,
  CalendarClock,
  Database,
  FolderKanban,
  KeyRound,
  Layers,
  type LucideIcon,
  Network,
  Plug,
  ScrollText,
  SlidersHorizontal,
  SquareFunction,
  User,
  Users,
  Waypoints,
} from 'lucide-react';
import { type TypeWord, typeWords } from '../../../server/model/type-words.ts';
import { fqonOf, type PlatformRecord } from './world.ts';

/** What the window knows of a resource type. */
export interface ResourceKind {
  word: TypeWord;
  /** For one of them. */
  title: string;
  /** For several. */
  plural: string;
  icon: LucideIcon;
  /** Name of its `properties` in the OpenAPI document. */
  schema: string;
}

const kind = (word: TypeWord, title: string, plural: string, icon: LucideIcon, schema: string): ResourceKind => ({
  word,
  title,
  plural,
  icon,
  schema,
});

/** By a part of the type's full name; the first that fits holds. */
const KINDS: readonly [string, ResourceKind][] = [
  ['Resource::Organization', kind('orgs', 'organization', 'Organizations', Building2, 'OrganizationProperties')],
  ['Resource::Workspace', kind('workspaces', 'workspace', 'Workspaces', FolderKanban, 'WorkspaceProperties')],
  ['Resource::Environment', kind('environments', 'environment', 'Environments', Layers, 'EnvironmentProperties')],
  ['Resource::Container', kind('containers', 'container', 'Containers', Box, 'ContainerProperties')],
  ['Resource::Job', kind('jobs', 'job', 'Jobs', CalendarClock, 'JobProperties')],
  ['Resource::Node::Lambda', kind('lambdas', 'lambda', 'Lambdas', SquareFunction, 'LambdaProperties')],
  ['Resource::ApiEndpoint', kind('apiendpoints', 'endpoint', 'Endpoints', Waypoints, 'ApiEndpointProperties')],
  ['Resource::Api', kind('apis', 'API', 'APIs', Network, 'ApiProperties')],
  ['Configuration::Provider', kind('providers', 'provider', 'Providers', Plug, 'ProviderProperties')],
  ['Resource::UserProfile', kind('users', 'user', 'Users', User, 'UserProperties')],
  ['Resource::User', kind('users', 'user', 'Users', User, 'UserProperties')],
  ['Resource::Group', kind('groups', 'group', 'Groups', Users, 'GroupProperties')],
  ['Resource::Policy', kind('policies', 'policy', 'Policies', ScrollText, 'PolicyProperties')],
  ['Resource::Rule', kind('rules', 'rule', 'Rules', SlidersHorizontal, 'RuleProperties')],
  ['Resource::Secret', kind('secrets', 'secret', 'Secrets', KeyRound, 'SecretProperties')],
  ['Resource::Volume', kind('volumes', 'volume', 'Volumes', Database, 'VolumeProperties')],
];

const OTHER = kind('orgs', 'resource', 'Resources', Boxes, '');

/** The kind of a record by its `resource_type`, sub-types included. */
export function kindOf({ resource_type }: Pick<PlatformRecord, 'resource_type'>): ResourceKind {
  return KINDS.find(([name]) => resource_type.includes(name))?.[1] ?? OTHER;
}

/** The kind of a type's word. */
export function kindOfWord(word: TypeWord): ResourceKind {
  return KINDS.find(([, one]) => one.word === word)?.[1] ?? OTHER;
}

/** Below what each type can be created; the registry of the server says the same. */
export const parentWords: Readonly<Record<TypeWord, readonly TypeWord[]>> = {
  orgs: ['orgs'],
  workspaces: ['orgs'],
  environments: ['workspaces'],
  containers: ['environments'],
  jobs: ['environments'],
  lambdas: ['orgs', 'workspaces', 'environments'],
  apis: ['environments'],
  apiendpoints: ['apis'],
  providers: ['orgs', 'workspaces', 'environments'],
  users: ['orgs'],
  groups: ['orgs'],
  policies: ['orgs', 'workspaces', 'environments'],
  rules: ['policies'],
  secrets: ['environments'],
  volumes: ['environments'],
};

/** What can be created directly below a resource of a type. */
export function kindsBelow(word: TypeWord): ResourceKind[] {
  return typeWords.filter((one) => parentWords[one].includes(word)).map(kindOfWord);
}

/** Where a resource is created, below `/meta`: a POST to the list of its parent. */
export function createPath(parent: { word: TypeWord; id: string; fqon: string }, word: TypeWord): string {
  if (parent.word !== 'orgs') return `/${parent.fqon}/${parent.word}/${parent.id}/${word}`;
  return word === 'orgs' ? `/${parent.fqon}` : `/${parent.fqon}/${word}`;
}

/** Where a record is read, patched and deleted, below `/meta`. */
export function recordPath(record: PlatformRecord): string {
  return `/${record.org.properties?.fqon ?? fqonOf(record)}/resources/${record.id}`;
}

/** The id of what a record is below; undefined for the root organization. */
export function parentIdOf(record: PlatformRecord): string | undefined {
  const { parent } = record.properties;
  if (typeof parent !== 'object' || parent === null || !('id' in parent)) return undefined;
  return typeof parent.id === 'string' ? parent.id : undefined;
}
