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
import type { TypeKind } from '../../../server/api/routes/type-naming.ts';
import type { TypeWord } from '../../../server/model/type-words.ts';
import { fqonOf, type PlatformRecord, referenceId } from './use-world.ts';

/** `typeKinds()`, written in when the window is built (vite.config.ts): the registry itself would bring every schema along. */
declare const TYPE_KINDS: readonly TypeKind[];

export interface ResourceKind extends TypeKind {
  icon: LucideIcon;
}

const ICONS: Partial<Record<TypeWord, LucideIcon>> = {
  orgs: Building2,
  workspaces: FolderKanban,
  environments: Layers,
  containers: Box,
  jobs: CalendarClock,
  lambdas: SquareFunction,
  apis: Network,
  apiendpoints: Waypoints,
  providers: Plug,
  users: User,
  groups: Users,
  policies: ScrollText,
  rules: SlidersHorizontal,
  secrets: KeyRound,
  volumes: Database,
};

const kinds = TYPE_KINDS.map((kind): ResourceKind => ({ ...kind, icon: ICONS[kind.collection] ?? Boxes }));
const other: ResourceKind = {
  collection: 'orgs',
  names: [],
  title: 'resource',
  plural: 'Resources',
  schema: '',
  parents: [],
  icon: Boxes,
};

export const typeWords: readonly TypeWord[] = kinds.map(({ collection }) => collection);

export function isTypeWord(name: string): name is TypeWord {
  return typeWords.some((collection) => collection === name);
}

/** The kind of a record by its `resource_type`, with any prefix. */
export function kindOf({ resource_type }: Pick<PlatformRecord, 'resource_type'>): ResourceKind {
  return kinds.find(({ names }) => names.some((name) => `::${resource_type}`.endsWith(`::${name}`))) ?? other;
}

export function kindOfWord(collection: TypeWord): ResourceKind {
  return kinds.find((kind) => kind.collection === collection) ?? other;
}

/** The noun of a type in permissions: `lambda` in `lambda.view`. */
export function nounOf(collection: TypeWord): string {
  return collection.replace(/ies$/, 'y').replace(/s$/, '');
}

/** Returns the kinds that can be created directly below a resource of a type. */
export function kindsBelow(collection: TypeWord): ResourceKind[] {
  return kinds.filter(({ parents }) => parents.includes(collection));
}

/** Returns the path below `/meta` at which a resource is created: a POST to the list of its parent. */
export function createPath(parent: { word: TypeWord; id: string; fqon: string }, collection: TypeWord): string {
  if (parent.word !== 'orgs') return `/${parent.fqon}/${parent.word}/${parent.id}/${collection}`;
  return collection === 'orgs' ? `/${parent.fqon}` : `/${parent.fqon}/${collection}`;
}

/** Returns the path below `/meta` at which a record is read, patched and deleted. */
export function recordPath(record: PlatformRecord): string {
  return `/${record.org.properties?.fqon ?? fqonOf(record)}/resources/${record.id}`;
}

/** The id of what a record is below; undefined for the root organization. */
export function parentIdOf(record: PlatformRecord): string | undefined {
  return referenceId(record.properties.parent);
}
