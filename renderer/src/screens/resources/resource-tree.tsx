import { kindOf, parentIdOf } from '../../api/resource-kinds.ts';
import type { PlatformRecord } from '../../api/world.ts';
import { Badge } from '../../parts/state.tsx';
import type { TreeNode } from '../../parts/tree.tsx';

/** What is below an organization comes in this order: places first, then workloads, then what serves them. */
const ORDER = [
  'orgs',
  'workspaces',
  'environments',
  'containers',
  'jobs',
  'lambdas',
  'apis',
  'apiendpoints',
  'volumes',
  'secrets',
  'policies',
  'rules',
  'providers',
  'users',
  'groups',
];
/** Long lists of what is no place stand behind a node of their own, e.g. `Providers`. */
const GATHERED = new Set(['providers', 'users', 'groups']);

/** The records below `rootId` as a tree; with a filter only those whose name or type has it, and what leads to them. */
export function treeOf(records: readonly PlatformRecord[], rootId: string | undefined, filter: string) {
  const children = Map.groupBy(records, parentIdOf);
  const wanted = filter.trim().toLowerCase();
  const matchedParents = new Set<string>();

  const toNode = (record: PlatformRecord, isShown: boolean): TreeNode | undefined => {
    const { title, icon: Icon } = kindOf(record);
    const isMatch = isShown || wanted === '' || `${record.name} ${title}`.toLowerCase().includes(wanted);
    const below = (children.get(record.id) ?? []).toSorted(inOrder);
    const nodes = gathered(record.id, below)
      .map((entry) =>
        'records' in entry ? toGroup(entry, isMatch && wanted !== '') : toNode(entry, isMatch && wanted !== ''),
      )
      .filter((node) => node !== undefined);
    if (!isMatch && nodes.length === 0) return undefined;
    if (wanted !== '' && nodes.some((node) => node !== undefined)) matchedParents.add(record.id);
    const type = record.properties.environment_type;
    return {
      id: record.id,
      text: record.name,
      icon: <Icon aria-hidden size={14} strokeWidth={1.7} className="shrink-0 opacity-70" />,
      ...(typeof type === 'string' && type !== record.name && { badge: <Badge>{type}</Badge> }),
      ...(title === 'API' && { badge: <Badge>API</Badge> }),
      ...(below.length > 0 && { count: below.length }),
      children: nodes,
    };
  };
  const toGroup = ({ id, title, records: inside }: Gathered, isShown: boolean): TreeNode | undefined => {
    const nodes = inside.map((record) => toNode(record, isShown)).filter((node) => node !== undefined);
    if (nodes.length === 0) return undefined;
    if (wanted !== '') matchedParents.add(id);
    return { id, text: title, count: inside.length, children: nodes };
  };

  const roots = records.filter((record) =>
    rootId === undefined ? parentIdOf(record) === undefined : record.id === rootId,
  );
  const nodes = roots.map((record) => toNode(record, false)).filter((node) => node !== undefined);
  return { nodes, matchedParents };
}

interface Gathered {
  id: string;
  title: string;
  records: PlatformRecord[];
}

/** The ids of gathering nodes name what they stand below: `GROUP of ID`. */
export const isGroupId = (id: string) => id.includes(' of ');

function gathered(parentId: string, records: readonly PlatformRecord[]): (PlatformRecord | Gathered)[] {
  const groups = new Map<string, Gathered>();
  const rest: PlatformRecord[] = [];
  for (const record of records) {
    const { word, plural } = kindOf(record);
    if (!GATHERED.has(word)) rest.push(record);
    else {
      const group = groups.get(word) ?? { id: `${word} of ${parentId}`, title: plural, records: [] };
      group.records.push(record);
      groups.set(word, group);
    }
  }
  return [...rest, ...groups.values()];
}

function inOrder(one: PlatformRecord, other: PlatformRecord): number {
  const rank = (record: PlatformRecord) => ORDER.indexOf(kindOf(record).word);
  return rank(one) - rank(other) || one.name.localeCompare(other.name);
}

/** The ids of everything above a record. */
export function ancestorsOf(byId: ReadonlyMap<string, PlatformRecord>, id: string | undefined): string[] {
  const above: string[] = [];
  let record = id === undefined ? undefined : byId.get(id);
  while (record) {
    const parentId = parentIdOf(record);
    // A group node may stand between them.
    if (parentId !== undefined) above.push(parentId, `${kindOf(record).word} of ${parentId}`);
    record = parentId === undefined || above.length > 64 ? undefined : byId.get(parentId);
  }
  return above;
}
