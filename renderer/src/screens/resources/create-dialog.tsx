import { useMemo } from 'react';
import type { ErrorDetail } from '../../../../server/model/errors.ts';
import type { TypeWord } from '../../../../server/model/type-words.ts';
import { useChange } from '../../api/change.ts';
import type { RecordPath } from '../../api/client.ts';
import { failureOf } from '../../api/failure.ts';
import { createPath, isTypeWord, kindOfWord } from '../../api/resource-kinds.ts';
import { type TreeNode, type TreePlace, usePlace } from '../../api/tree.ts';
import { type PlatformRecord, useScope } from '../../api/world.ts';
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
  /** Of the type, from the address. */
  word: string;
  /** The open resource; the new one is created there, or in the nearest ancestor that can contain it. */
  place: TreePlace | undefined;
}

/** Draft of a new resource. */
interface Begun {
  word: TypeWord;
  /** Where one was: elsewhere one begins again. */
  at: string | undefined;
  parentId: string | undefined;
  subType: string | undefined;
  /** Undefined until something is written. */
  value: Editable | undefined;
}

const NONE: readonly ErrorDetail[] = [];

/** Survives the end of a session; discarded when the dialog is closed. */
const begun = new ValueStore<Begun | undefined>(undefined);

function beginning(word: TypeWord, place: TreePlace | undefined): Begun {
  return {
    word,
    at: place?.resource.id,
    parentId: nearestFor(word, place)?.id,
    subType: undefined,
    value: undefined,
  };
}

/** Makes a new resource of any type. */
export function CreateDialog({ word, place }: CreateDialogProps) {
  const [, change] = useSearch();
  const close = () => {
    begun.set(undefined);
    change({ new: undefined });
  };
  // A word that is not a type comes from an edited address.
  if (!isTypeWord(word)) return null;
  return <Create word={word} place={place} onClose={close} />;
}

function Create({ word, place, onClose }: { word: TypeWord; place: TreePlace | undefined; onClose(): void }) {
  const go = useGo();
  const { scope } = useScope();
  const kind = kindOfWord(word);
  const schema = useTypeSchema(kind.schema);
  const subTypes = useSubTypes(kind.schema);
  const known = useValue(begun);
  const fresh = useMemo(() => beginning(word, place), [word, place]);
  const current = known?.word === word && known.at === fresh.at ? known : fresh;
  const { parentId, subType } = current;
  const empty = useMemo(() => ({ name: '', properties: schema?.['x-terrarium-first'] ?? {} }), [schema]);
  const value = current.value ?? empty;
  const write = (change: Partial<Begun>) => begun.set({ ...current, ...change });
  const parent = usePlace(parentId).data?.resource;

  const request = useMemo(
    () =>
      parent && {
        method: 'POST',
        path: `/meta${createPath(parent, word)}` as const,
        body: { ...value, ...(subType !== undefined && { resource_type: subType }) },
      },
    [parent, word, value, subType],
  );
  const creation = useChange(
    ({ path, body }: { path: RecordPath; body: unknown }, send) => send<PlatformRecord>('POST', path, body),
    {
      said: ({ name }) => `${name} was created.`,
      onDone: ({ id }) => {
        begun.set(undefined);
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
            words={kind.parents}
            scope={scope.id}
            value={parentId}
            onChange={(node) => write({ parentId: node?.id })}
          />
        </Row>
        {subTypes.length > 0 && (
          <Row name="resource_type" label="Type" isRequired>
            <Select
              label="resource_type"
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
function nearestFor(word: TypeWord, place: TreePlace | undefined): TreeNode | undefined {
  if (!place) return undefined;
  return [place.resource, ...place.path.toReversed()].find((node) => kindOfWord(word).parents.includes(node.word));
}
