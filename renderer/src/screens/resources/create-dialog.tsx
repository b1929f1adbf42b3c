import { useMutation } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { isTypeWord, type TypeWord } from '../../../../server/model/type-words.ts';
import { send } from '../../api/client.ts';
import { failureOf } from '../../api/failure.ts';
import { queryClient } from '../../api/query-client.ts';
import { createPath, kindOfWord, parentWords } from '../../api/resource-kinds.ts';
import { type TreeNode, type TreePlace, usePlace } from '../../api/tree.ts';
import { type PlatformRecord, useScope } from '../../api/world.ts';
import { Button } from '../../parts/button.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { FailureNote } from '../../parts/empty-state.tsx';
import { Select } from '../../parts/fields.tsx';
import { toast } from '../../parts/toasts.tsx';
import { useGo, useSearch } from '../../url.ts';
import { CurlNote } from './curl-note.tsx';
import { firstProperties } from './first-properties.ts';
import { PropertyForm, Row } from './property-form.tsx';
import type { Editable } from './resource-patch.ts';
import { ResourcePicker } from './resource-picker.tsx';
import { useSubTypes, useTypeSchema } from './use-type-schema.ts';

export interface CreateDialogProps {
  /** Of the type, from the address. */
  word: string;
  /** Where one is; the new resource stands there, or in what is above where that is the place for it. */
  place: TreePlace | undefined;
}

/** Makes a new resource of any type. */
export function CreateDialog({ word, place }: CreateDialogProps) {
  const [, change] = useSearch();
  const close = () => change({ new: undefined });
  // A word that is no type comes from an address that somebody has changed.
  if (!isTypeWord(word)) return null;
  return <Create word={word} place={place} onClose={close} />;
}

function Create({ word, place, onClose }: { word: TypeWord; place: TreePlace | undefined; onClose(): void }) {
  const go = useGo();
  const { scope } = useScope();
  const kind = kindOfWord(word);
  const schema = useTypeSchema(kind.schema);
  const subTypes = useSubTypes(kind.schema);
  const [parentId, setParentId] = useState(() => nearestFor(word, place)?.id);
  const parent = usePlace(parentId).data?.resource;
  const [subType, setSubType] = useState<string>();
  const [written, setWritten] = useState<Editable>();
  const value = useMemo(() => written ?? { name: '', properties: firstProperties(word) }, [written, word]);

  const request = useMemo(
    () =>
      parent && {
        method: 'POST',
        path: `/meta${createPath(parent, word)}`,
        body: { ...value, ...(subType !== undefined && { resource_type: subType }) },
      },
    [parent, word, value, subType],
  );
  const creation = useMutation({
    mutationFn: ({ path, body }: { path: string; body: unknown }) => send<PlatformRecord>('POST', path, body),
    onSuccess: (record) => {
      toast({ tone: 'ok', text: `${record.name} was created.` });
      void queryClient.invalidateQueries();
      go({ screen: 'resources', id: record.id });
    },
  });
  const failure = creation.error ? failureOf(creation.error) : undefined;
  const create = () => request && !creation.isPending && creation.mutate(request);
  const needsSubType = subTypes.length > 0 && subType === undefined;
  return (
    <Dialog
      title={`New ${kind.title}`}
      isOpen
      onClose={onClose}
      width="medium"
      isAlert
      actions={
        <>
          <Button onPress={onClose}>Cancel</Button>
          <Button
            look="primary"
            isPending={creation.isPending}
            isDisabled={!request || value.name === '' || needsSubType}
            onPress={create}
          >
            Create {kind.title}
          </Button>
        </>
      }
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
            words={parentWords[word]}
            scope={scope.id}
            value={parentId}
            onChange={(node) => setParentId(node?.id)}
          />
        </Row>
        {subTypes.length > 0 && (
          <Row name="resource_type" isRequired>
            <Select
              label="resource_type"
              isLabelHidden
              options={subTypes.map((name) => ({
                id: name,
                text: name.replace(/^\w+::(Configuration|Resource)::/, ''),
              }))}
              value={subType}
              onChange={setSubType}
              error={failure?.details.find(({ pointer }) => pointer === '/resource_type')?.message}
            />
          </Row>
        )}
        <PropertyForm
          word={word}
          place={parent}
          errors={failure?.details ?? []}
          schema={schema}
          value={value}
          onChange={setWritten}
        />
        {failure && <FailureNote failure={failure} />}
        {request && <CurlNote {...request} />}
      </div>
    </Dialog>
  );
}

/** Where one is, or the nearest above, that such a resource can stand in. */
function nearestFor(word: TypeWord, place: TreePlace | undefined): TreeNode | undefined {
  if (!place) return undefined;
  return [place.resource, ...place.path.toReversed()].find((node) => parentWords[word].includes(node.word));
}
