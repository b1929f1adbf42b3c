import { useQuery } from '@tanstack/react-query';
import { Bug, FlaskConical, Play, RotateCcw, ScrollText, Send, SquareFunction, Undo2, UserPlus } from 'lucide-react';
import { useMemo } from 'react';
import { ask, load } from '../api/client.ts';
import { searchOptions } from '../api/tree.ts';
import { useScope } from '../api/use-world.ts';
import { toast } from '../components/toasts.tsx';
import { useGo } from '../url.ts';
import { type Command, useCommands } from './commands.ts';

/** In a world of more lambdas, a search finds the others. */
const MAX_LAMBDAS = 200;

/** Puts what people do most into the palette, wherever they are. */
export function useActionCommands(): void {
  const go = useGo();
  const { orgs, scope } = useScope();
  const parentId = (scope.workspace ?? scope.org ?? orgs.find(({ name }) => name !== 'root') ?? orgs[0])?.id;
  const { data } = useQuery(searchOptions({ collections: ['lambdas'], limit: MAX_LAMBDAS }));
  const lambdas = useMemo(
    () =>
      (data?.rows ?? []).flatMap(({ id, name, fqon }): Command[] => {
        const command = { group: 'Lambdas', synonyms: fqon };
        const open = (search: Record<string, string>) => () => go({ screen: 'lambdas', id, search });
        return [
          { ...command, id: `open ${id}`, text: `Open ${name}`, icon: SquareFunction, run: open({}) },
          { ...command, id: `run ${id}`, text: `Run ${name}`, icon: Play, run: open({ run: '1' }) },
          { ...command, id: `debug ${id}`, text: `Debug ${name}`, icon: Bug, run: open({ tab: 'debug' }) },
          {
            ...command,
            id: `logs ${id}`,
            text: `Open the logs of ${name}`,
            icon: ScrollText,
            run: () => go({ screen: 'invocations', search: { list: 'lines', lambda: id } }),
          },
        ];
      }),
    [data, go],
  );
  useCommands([
    {
      id: 'send',
      text: 'Send a request to a public endpoint',
      synonyms: 'http call form post gateway saved',
      icon: Send,
      group: 'Actions',
      run: () => go({ screen: 'gateway', search: { dialog: 'send' } }),
    },
    {
      id: 'replay newest',
      text: 'Replay the newest invocation',
      synonyms: 'again repeat run last',
      icon: RotateCcw,
      group: 'Actions',
      run: () => void replayNewest(go),
    },
    {
      id: 'undo newest',
      text: 'Undo the last change',
      synonyms: 'revert commit back',
      icon: Undo2,
      group: 'Actions',
      run: async () => {
        const { newest } = await load('/inspect/history', { limit: 1, brief: true });
        go({ screen: 'history', search: { sel: String(newest) } });
      },
    },
    {
      id: 'restore',
      text: 'Restore an earlier moment of the world',
      synonyms: 'undo history back time',
      icon: RotateCcw,
      group: 'Actions',
      run: () => go({ screen: 'history' }),
    },
    {
      id: 'invite',
      text: 'Invite a user',
      synonyms: 'colleague account new person share team',
      icon: UserPlus,
      group: 'Actions',
      run: () => go({ screen: 'resources', id: parentId, search: { new: 'colleague' } }),
    },
    {
      id: 'fault',
      text: 'Inject a fault into outbound calls',
      synonyms: 'simulate failure delay timeout slow block crm down rule error outage',
      icon: FlaskConical,
      group: 'Actions',
      run: () => go({ screen: 'leads', search: { tab: 'rules', dialog: 'rule' } }),
    },
    ...lambdas,
  ]);
}

async function replayNewest(go: ReturnType<typeof useGo>): Promise<void> {
  const { invocations } = await load('/inspect/invocations', { limit: 1 });
  const [newest] = invocations;
  if (!newest) {
    toast({ tone: 'plain', text: 'There is no invocation to replay.' });
    return;
  }
  const answer = await ask('POST', `/inspect/invocations/${newest.executionId}/replay`, { body: {} });
  if (!answer.ok) toast({ tone: 'error', text: answer.failure.message });
  else go({ screen: 'invocations', search: { sel: answer.value.executionId, with: newest.executionId } });
}
