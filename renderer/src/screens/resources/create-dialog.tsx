import { useMemo } from 'react';
import type { ErrorDetail } from '../../../../server/model/errors.ts';
import type { TypeWord } from '../../../../server/model/type-words.ts';
import type { RecordPath } from '../../api/client.ts';
import { failureOf } from '../../api/failure.ts';
import { createPath, isTypeWord, kindOfWord } from '../../api/resource-kinds.ts';
import { sessionState } from '../../api/session-state.ts';
import { type TreeNode, type TreePlace, usePlace } from '../../api/tree.ts';
import { useChange } from '../../api/use-change.ts';
import { type PlatformRecord, useScope } from '../../api/use-world.ts';
import { Dialog } from '../../components/dialog.tsx';
import { Select } from '../../components/fields.tsx';
import { useGo, useSearch } from '../../url.ts';
import { useValue, ValueStore } from '../../value-store.ts';
import { CurlNote } from './curl-note.tsx';
import { PropertyForm, Row } from './property-form.tsx';
import type { Editable } from './resource-patch.ts';
import { ResourcePicker } from './resource-picker.tsx';
import { useSubTypes, useTypeSchema } from './use-type-schema.ts';

export interface CreateDialogProps {
  /** The plural name of the type, from the address. */
  collection: string;
  /** The open resource; the new one is created there, or in the nearest ancestor that can contain it. */
  location: TreePlace | undefined;
}

interface ResourceDraft {
  collection: TypeWord;
  /** The id of the resource that was open. While another resource is open, a new draft begins. */
  at: string | undefined;
  parentId: string | undefined;
  subType: string | undefined;
  /** Undefined until something is written. */
  value: Editable | undefined;
}

const NONE: readonly ErrorDetail[] = [];

/** Survives the end of a session; discarded when the dialog is closed. */
const draftStore = new ValueStore<ResourceDraft | undefined>(undefined);
sessionState.whenUserLeaves(() => draftStore.set(undefined));

function beginning(collection: TypeWord, location: TreePlace | undefined): ResourceDraft {
  return {
    collection,
    at: location?.resource.id,
    parentId: nearestFor(collection, location)?.id,
    subType: undefined,
    value: undefined,
  };
}

export function CreateDialog({ collection, location }: CreateDialogProps) {
  const [, change] = useSearch();
  const close = () => {
    draftStore.set(undefined);
    change({ new: undefined });
  };
  // A word that is not a type comes from an edited address.
  if (!isTypeWord(collection)) return null;
  return <Create collection={collection} location={location} onClose={close} />;
}

function Create({
  collection,
  location,
  onClose,
}: {
  collection: TypeWord;
  location: TreePlace | undefined;
  onClose(): void;
}) {
  const go = useGo();
  const { scope } = useScope();
  const kind = kindOfWord(collection);
  const schema = useTypeSchema(kind.schema);
  const subTypes = useSubTypes(kind.schema);
  const storedDraft = useValue(draftStore);
  const fresh = useMemo(() => beginning(collection, location), [collection, location]);
  const current = storedDraft?.collection === collection && storedDraft.at === fresh.at ? storedDraft : fresh;
  const { parentId, subType } = current;
  const empty = useMemo(() => ({ name: '', properties: schema?.['x-terrarium-first'] ?? {} }), [schema]);
  const value = current.value ?? empty;
  const write = (change: Partial<ResourceDraft>) => draftStore.set({ ...current, ...change });
  const parent = usePlace(parentId).data?.resource;

  const request = useMemo(
    () =>
      parent && {
        method: 'POST',
        path: `/meta${createPath(parent, collection)}` as const,
        body: { ...value, ...(subType !== undefined && { resource_type: subType }) },
      },
    [parent, collection, value, subType],
  );
  const creation = useChange(
    ({ path, body }: { path: RecordPath; body: unknown }, send) => send<PlatformRecord>('POST', path, body),
    {
      message: ({ name }) => `${name} was created.`,
      onDone: ({ id }) => {
        draftStore.set(undefined);
        go({ screen: 'resources', id }, { isReplacing: true });
      },
    },
  );
  const failure = creation.error ? failureOf(creation.error) : undefined;
  const create = () => request && !creation.isPending && creation.mutate(request);
  const needsSubType = subTypes.length > 0 && subType === undefined;
  return (
    <Dialog
      title={`New ${kind.title}`}
      onClose={onClose}
      width="medium"
      isAlert
      action={`Create ${kind.title}`}
      onAction={create}
      isReady={request !== undefined && value.name !== '' && !needsSubType}
      making={creation}
    >
      {/* biome-ignore lint/a11y/noStaticElementInteractions: a shortcut for the button below */}
      <div
        className="flex flex-col gap-2"
        onKeyDown={(event) => {
          if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) create();
        }}
      >
        <Row name="in" isRequired>
          <ResourcePicker
            label="in"
            isLabelHidden
            collections={kind.parents}
            scope={scope.id}
            value={parentId}
            onChange={(node) => write({ parentId: node?.id })}
          />
        </Row>
        {subTypes.length > 0 && (
          <Row name="resource_type" label="Type" isRequired>
            <Select
              label="Type"
              isLabelHidden
              options={subTypes.map((name) => ({
                id: name,
                text: name.replace(/^\w+::(Configuration|Resource)::/, ''),
              }))}
              value={subType}
              onChange={(next) => write({ subType: next })}
              error={failure?.details.find(({ pointer }) => pointer === '/resource_type')?.message}
            />
          </Row>
        )}
        <PropertyForm
          subType={subType}
          placeId={parentId}
          errors={failure?.details ?? NONE}
          schema={schema}
          value={value}
          onChange={(next) => write({ value: next })}
        />
        {request && <CurlNote {...request} />}
      </div>
    </Dialog>
  );
}

/** The open resource or its nearest ancestor that can contain such a resource. */
function nearestFor(collection: TypeWord, location: TreePlace | undefined): TreeNode | undefined {
  if (!location) return undefined;
  return [location.resource, ...location.path.toReversed()].find((node) =>
    kindOfWord(collection).parents.includes(node.word),
  );
}
