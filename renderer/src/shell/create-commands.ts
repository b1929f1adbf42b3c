import { Plus } from 'lucide-react';
import { typeWords } from '../../../server/model/type-words.ts';
import { kindOfWord } from '../api/resource-kinds.ts';
import { useGo, usePlaceId } from '../url.ts';
import { useCommands } from './commands.ts';

/** A command for each type: creates one, where one is or where one then says. */
export function useCreateCommands(): void {
  const go = useGo();
  const id = usePlaceId();
  useCommands(
    typeWords.map((word) => ({
      id: `new ${word}`,
      text: `New ${kindOfWord(word).title}`,
      words: `create add ${word}`,
      icon: Plus,
      group: 'Create',
      run: () => go({ screen: 'resources', id, search: { new: word } }),
    })),
  );
}
