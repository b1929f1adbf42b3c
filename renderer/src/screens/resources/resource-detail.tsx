import { useState } from 'react';
import type { ErrorDetail } from '../../../../server/model/errors.ts';
import { kindOf } from '../../api/resource-kinds.ts';
import type { TreePlace } from '../../api/tree.ts';
import type { PlatformRecord } from '../../api/use-world.ts';
import { Skeleton } from '../../components/skeleton.tsx';
import { type TabEntry, Tabs } from '../../components/tabs.tsx';
import { useHasDraft } from '../../draft-store.ts';
import { useSearch } from '../../url.ts';
import { CallsTab } from './calls-tab.tsx';
import { ChildrenTable } from './children-table.tsx';
import { DetailHeader } from './detail-header.tsx';
import { EditorFrame, type EditorProps } from './editor-frame.tsx';
import { HistoryTab } from './history-tab.tsx';
import { JsonTab } from './json-tab.tsx';
import { KeysTab } from './keys-tab.tsx';
import { MembersTab } from './members-tab.tsx';
import { PropertyForm } from './property-form.tsx';
import { RelationsTab } from './relations-tab.tsx';
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
