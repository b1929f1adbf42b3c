import { useMutation } from '@tanstack/react-query';
import type { Operation } from 'fast-json-patch';
import { send } from '../../api/client.ts';
import { failureOf } from '../../api/failure.ts';
import { keys, queryClient } from '../../api/query-client.ts';
import { recordPath } from '../../api/resource-kinds.ts';
import type { PlatformRecord } from '../../api/world.ts';
import { toast } from '../../parts/toasts.tsx';

/** Patches the lambda; `onSaved` once the window has it as it then is. */
export function useSaveLambda(lambda: PlatformRecord, onSaved: () => void) {
  const saving = useMutation({
    mutationFn: (patch: readonly Operation[]) => send('PATCH', `/meta${recordPath(lambda)}`, patch),
    onSuccess: async () => {
      toast({ tone: 'ok', text: `${lambda.name} was saved.` });
      await queryClient.invalidateQueries({ queryKey: [keys.world] });
      onSaved();
    },
  });
  const failure = saving.error ? failureOf(saving.error) : undefined;
  return {
    save: saving.mutate,
    isPending: saving.isPending,
    failure,
    /** Has somebody else saved meanwhile? */
    isConflict: failure?.details.some(({ message }) => message.includes('the test failed')) === true,
  };
}
