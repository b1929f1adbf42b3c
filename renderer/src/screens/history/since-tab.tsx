import { Pending } from '../../components/pending.tsx';
import { DifferenceList, totalText } from './difference-list.tsx';
import { nameOf } from './restore-dialog.tsx';
import { type Since, useDifference } from './use-commits.ts';

export function SinceTab({ since }: { since: Since }) {
  const difference = useDifference(since);
  const { data } = difference;
  if (!data) return <Pending query={difference} />;
  const isSame = data.resources.length === 0;
  return (
    <>
      <p className="border-b border-line px-4 py-2 text-muted">
        {isSame
          ? `The world is now as it was ${nameOf(since)}.`
          : `${totalText(data, 'since')} up to now. Select one to see the patch.`}
      </p>
      <DifferenceList difference={data} direction="since" since={since} />
    </>
  );
}
