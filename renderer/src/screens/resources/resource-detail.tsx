import { Eye, EyeOff, KeyRound } from 'lucide-react';
import { useState } from 'react';
import type { ErrorDetail } from '../../../../server/model/errors.ts';
import { keys as topics } from '../../api/query-client.ts';
import { kindOf, kindOfWord } from '../../api/resource-kinds.ts';
import { type TreeNode, type TreePlace, type TreeRelation, useRelations } from '../../api/tree.ts';
import { isRoot } from '../../api/use-identity.ts';
import { useRead } from '../../api/use-read.ts';
import type { PlatformRecord } from '../../api/use-world.ts';
import { Button, IconButton } from '../../components/button.tsx';
import { Copy } from '../../components/copy.tsx';
import { EmptyState } from '../../components/empty-state.tsx';
import { Pending } from '../../components/pending.tsx';
import { Skeleton } from '../../components/skeleton.tsx';
import { type TabEntry, Tabs } from '../../components/tabs.tsx';
import { useHasDraft } from '../../draft-store.ts';
import { PlaceLink } from '../../shell/place-link.tsx';
import { useSearch } from '../../url.ts';
import { AccessTable } from '../settings/access-table.tsx';
import { NewCredentialDialog } from '../settings/new-credential-dialog.tsx';
import { useKeysAndTokens } from '../settings/use-keys-and-tokens.ts';
import { CallsTab } from './calls-tab.tsx';
import { ChildrenTable } from './children-table.tsx';
import { DetailHeader } from './detail-header.tsx';
import { EditorFrame, type EditorProps } from './editor-frame.tsx';
import { HistoryTab } from './history-tab.tsx';
import { JsonTab } from './json-tab.tsx';
import { MembersTab } from './members-tab.tsx';
import { PropertyForm } from './property-form.tsx';
import { RightsTab } from './rights-tab.tsx';
import { drafts, useDraft } from './use-draft.ts';
import { useTypeSchema } from './use-type-schema.ts';

export interface ResourceDetailProps {
  location: TreePlace;
  record: PlatformRecord;
  refresh(): Promise<unknown>;
  onDeleting(): void;
}

/** Types that can contain others. */
const PARENT_COLLECTIONS: ReadonlySet<string> = new Set(['orgs', 'workspaces', 'environments', 'apis', 'policies']);

export function ResourceDetail({ location, record, refresh, onDeleting }: ResourceDetailProps) {
  const [{ tab }, change] = useSearch();
  const kind = kindOf(record);
  const schema = useTypeSchema(kind.schema);
  const isDirty = useHasDraft(drafts, record.id);
  const [errors, onRefused] = useState<readonly ErrorDetail[]>([]);
  const editor = { record, errors, refresh, onRefused };
  const { collection } = kind;
  const tabs: (TabEntry | false)[] = [
    PARENT_COLLECTIONS.has(collection) && {
      id: 'inside',
      title: 'Inside',
      count: location.resource.children,
      isFilling: true,
      content: <ChildrenTable location={location} />,
    },
    {
      id: 'form',
      title: isDirty ? 'Form •' : 'Form',
      isFilling: true,
      content: schema ? <FormTab {...editor} schema={schema} placeId={location.path.at(-1)?.id} /> : <Skeleton />,
    },
    {
      id: 'json',
      title: 'JSON',
      isFilling: true,
      content: schema ? <JsonTab {...editor} schema={schema} /> : <Skeleton />,
    },
    collection === 'groups' && { id: 'members', title: 'Members', content: <MembersTab group={location.resource} /> },
    collection === 'users' && { id: 'keys', title: 'API keys', content: <KeysTab user={location.resource} /> },
    (collection === 'lambdas' || collection === 'apiendpoints') && {
      id: 'calls',
      title: 'Calls',
      isFilling: true,
      content: <CallsTab resource={location.resource} />,
    },
    { id: 'history', title: 'History', content: <HistoryTab id={record.id} /> },
    { id: 'relations', title: 'Relations', content: <RelationsTab id={record.id} /> },
    { id: 'rights', title: 'Permissions', content: <RightsTab resource={location.resource} /> },
  ];
  return (
    <>
      <DetailHeader location={location} record={record} onDeleting={onDeleting} />
      <Tabs
        isInDetail
        label="Parts of the resource"
        tabs={tabs.filter((entry) => entry !== false)}
        value={tab}
        // A selection in one tab has no meaning in another.
        onChange={(next) => change({ tab: next, sel: undefined, compare: undefined, right: undefined })}
      />
    </>
  );
}

function FormTab({ placeId, schema, errors, ...frame }: EditorProps & { placeId: string | undefined }) {
  const { record } = frame;
  const draft = useDraft(record, schema);
  const fault =
    draft.unreadable === undefined ? undefined : 'The JSON is not valid: fix it on the JSON tab, or discard it.';
  return (
    <EditorFrame {...frame} draft={draft} fault={fault}>
      <div className="p-4">
        <PropertyForm
          subType={record.resource_type}
          placeId={placeId}
          errors={errors}
          schema={schema}
          value={draft.mine}
          before={draft.base}
          onChange={draft.set}
        />
      </div>
    </EditorFrame>
  );
}

/** The API keys of an account: makes one, whose secret is seen once, and ends them. Root also sees a random password (D-220). */
function KeysTab({ user: { id, name, parent } }: { user: TreeNode }) {
  const [isMaking, setMaking] = useState(false);
  const keysQuery = useKeysAndTokens();
  const passwords = useRead(topics.world, '/inspect/access/passwords', {}, { enabled: isRoot(), staleTime: 0 });
  const password = passwords.data?.find(({ user }) => user.id === id)?.password;
  if (!keysQuery.data) return <Pending query={keysQuery} />;
  const ownKeys = keysQuery.data.keys.filter(({ user }) => user.id === id);
  return (
    <div className="flex max-w-3xl flex-col gap-3 p-4">
      <div className="flex items-center gap-3">
        <Button icon={KeyRound} onPress={() => setMaking(true)}>
          New API key
        </Button>
        <p className="text-muted">User and password of Basic authentication, for programs.</p>
      </div>
      {ownKeys.length === 0 ? (
        <EmptyState icon={KeyRound} title="No keys yet" text="A key and its secret let programs act as this account." />
      ) : (
        <AccessTable kind="key" credentials={ownKeys} total={ownKeys.length} />
      )}
      {password !== undefined && <RandomPassword password={password} />}
      {isMaking && (
        <NewCredentialDialog kind="key" users={[{ id, name, orgId: parent }]} onClose={() => setMaking(false)} />
      )}
    </div>
  );
}

function RandomPassword({ password }: { password: string }) {
  const [isShown, setShown] = useState(false);
  return (
    <p className="flex items-center gap-2 text-muted">
      The user has a random password, for the window and for programs:
      <span className="mono text-text">{isShown ? password : '••••••••'}</span>
      <IconButton
        icon={isShown ? EyeOff : Eye}
        label={`${isShown ? 'Hide' : 'Show'} the password`}
        onPress={() => setShown(!isShown)}
      />
      <Copy text={password} subject="the password" />
    </p>
  );
}

/** The resources that this one refers to, and the resources that refer to it. */
function RelationsTab({ id }: { id: string }) {
  const relations = useRelations(id);
  const { data } = relations;
  if (!data) return <Pending query={relations} />;
  if (data.names.length + data.total === 0)
    return <EmptyState title="No relations" text="No references to or from other resources." />;
  return (
    <div className="flex flex-col gap-5 p-4">
      <List title="References" relations={data.names} />
      <List title="Referenced by" relations={data.namedBy} />
      {data.total > data.namedBy.length && (
        <p className="text-muted">and {(data.total - data.namedBy.length).toLocaleString('en')} more</p>
      )}
    </div>
  );
}

function List({ title, relations }: { title: string; relations: readonly TreeRelation[] }) {
  if (relations.length === 0) return null;
  return (
    <section aria-label={title}>
      <h3 className="eyebrow mb-1">{title}</h3>
      <ul>
        {relations.map(({ resource, pointer }) => {
          const { icon: Icon, title: kind } = kindOfWord(resource.word);
          return (
            <li key={`${resource.id} ${pointer}`} className="flex h-8 items-center gap-2 border-b border-line/60">
              <Icon aria-hidden size={14} className="shrink-0 text-muted" />
              <PlaceLink to={{ screen: 'resources', id: resource.id }} className="link truncate">
                {resource.name}
              </PlaceLink>
              <span className="shrink-0 text-muted">{kind}</span>
              <code className="ml-auto truncate text-faint">{pointer}</code>
            </li>
          );
        })}
      </ul>
    </section>
  );
}
