import { useMutation, useQuery } from '@tanstack/react-query';
import { type FormEvent, useId, useState } from 'react';
import { send } from '../../api/client.ts';
import { failureOf } from '../../api/failure.ts';
import { queryClient } from '../../api/query-client.ts';
import { createPath, parentWords } from '../../api/resource-kinds.ts';
import { usePlace } from '../../api/tree.ts';
import type { PlatformRecord } from '../../api/world.ts';
import { Button } from '../../parts/button.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { FailureNote } from '../../parts/empty-state.tsx';
import { Select, TextField } from '../../parts/fields.tsx';
import { toast } from '../../parts/toasts.tsx';
import { PlaceLink } from '../../shell/place-link.tsx';
import { useGo } from '../../url.ts';
import { providersFor } from '../resources/references.ts';
import { ResourcePicker } from '../resources/resource-picker.tsx';
import { codeOf } from './code-text.ts';
import { STARTERS } from './starters.ts';

export interface NewLambdaDialogProps {
  /** Id of the place where it is to be, for a start. */
  parentId: string | undefined;
  /** Id of what that has to be below. */
  scope: string | undefined;
  onClose(): void;
}

/** Makes a lambda of inline code, with no more asked for than it takes. */
export function NewLambdaDialog({ parentId: firstParentId, scope, onClose }: NewLambdaDialogProps) {
  const form = useId();
  const go = useGo();
  const [name, setName] = useState('');
  const [starterId, setStarterId] = useState(STARTERS[0].id);
  const [parentId, setParentId] = useState(firstParentId);
  const [providerId, setProviderId] = useState<string>();
  const parent = usePlace(parentId).data?.resource;
  const providers = useQuery({
    ...providersFor(parent ?? { word: 'orgs', id: '', fqon: 'root' }, 'Lambda'),
    enabled: parent !== undefined,
  }).data;
  const provider = providers?.find(({ id }) => id === providerId) ?? providers?.[0];
  const creation = useMutation({
    mutationFn: ({ path, body }: { path: string; body: unknown }) => send<PlatformRecord>('POST', path, body),
    onSuccess: async (record) => {
      toast({ tone: 'ok', text: `${record.name} was created.` });
      await queryClient.invalidateQueries();
      go({ screen: 'lambdas', id: record.id }, { isReplacing: true });
    },
  });
  const wanted = name.trim();
  const isReady = wanted !== '' && parent !== undefined && provider !== undefined;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!isReady || creation.isPending) return;
    const { code, env } = STARTERS.find(({ id }) => id === starterId) ?? STARTERS[0];
    const properties = {
      provider: { id: provider.id },
      runtime: 'nodejs',
      code_type: 'inline',
      handler: 'run',
      code: codeOf(code),
      ...(env && { env }),
    };
    creation.mutate({ path: `/meta${createPath(parent, 'lambdas')}`, body: { name: wanted, properties } });
  };
  const failure = creation.error ? failureOf(creation.error) : undefined;
  return (
    <Dialog
      title="New lambda"
      isOpen
      onClose={onClose}
      actions={
        <>
          <Button onPress={onClose}>Cancel</Button>
          <Button look="primary" type="submit" form={form} isPending={creation.isPending} isDisabled={!isReady}>
            Create lambda
          </Button>
        </>
      }
    >
      <form id={form} onSubmit={submit} className="flex flex-col gap-3">
        <TextField
          label="Name"
          value={name}
          onChange={setName}
          autoFocus
          error={failure?.details.find(({ pointer }) => pointer === '/name')?.message}
        />
        <ResourcePicker
          label="In"
          words={parentWords.lambdas}
          scope={scope}
          value={parentId}
          onChange={(node) => setParentId(node?.id)}
        />
        <Select label="Begin with" options={STARTERS} value={starterId} onChange={setStarterId} />
        {providers && providers.length !== 1 && (
          <Select
            label="Provider"
            options={providers.map((one) => ({ id: one.id, text: one.name }))}
            value={provider?.id}
            onChange={setProviderId}
            error={providers.length === 0 ? 'this place can use no provider of lambdas; create one first' : undefined}
          />
        )}
        {failure && <FailureNote failure={failure} />}
        <p className="text-muted">
          Node.js, one file of code, handler <code>run</code>. For a package, or another runtime:{' '}
          <PlaceLink to={{ screen: 'resources', id: parentId, search: { new: 'lambdas' } }}>
            all its properties
          </PlaceLink>
          .
        </p>
      </form>
    </Dialog>
  );
}
