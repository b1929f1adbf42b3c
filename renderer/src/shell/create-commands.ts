import { Plus } from 'lucide-react';
import { kindOfWord, typeWords } from '../api/resource-kinds.ts';
import { useGo, usePlaceId } from '../url.ts';
import { useCommands } from './commands.ts';

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** A command for each type: creates one, where one is or where one then says. */
export function useCreateCommands(): void {
  const go = useGo();
  const shown = usePlaceId();
  // On other screens it may be the name of something else.
  const id = shown !== undefined && UUID.test(shown) ? shown : undefined;
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
