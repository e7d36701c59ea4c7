// A field for tags: each one is a chip with a button that removes it.

import { field, h, input } from './dom.ts';

/** Returns each tag once. An imported tag can contain a comma, so only typed text is split at commas. */
const tagsIn = (lines: string) => {
  const tags = lines.split('\n').map((tag) => tag.trim());
  return [...new Set(tags.filter((tag) => tag !== ''))];
};

export function tagField(name: string) {
  let tags: readonly string[] = [];
  const list = h('ul', { className: 'chips', ariaLabel: 'Added' });
  const typed = input(name, { autocomplete: 'off' });
  const show = (next: readonly string[]) => {
    tags = next;
    list.replaceChildren(...tags.map(chip));
    list.hidden = tags.length === 0;
  };
  const chip = (tag: string) => {
    const onclick = () => {
      show(tags.filter((other) => other !== tag));
      typed.focus();
    };
    const remove = h('button', { type: 'button', ariaLabel: `Remove ${tag}`, onclick }, '×');
    return h('li', {}, tag, remove);
  };
  const all = () => tagsIn([...tags, ...typed.value.split(',')].join('\n'));
  const add = () => {
    show(all());
    typed.value = '';
  };
  typed.addEventListener('keydown', (event) => {
    const isBack = event.key === 'Backspace' && typed.value === '';
    if (isBack) show(tags.slice(0, -1));
    const isEnd = event.key === ',' || (event.key === 'Enter' && typed.value !== '');
    if (!isEnd || event.isComposing) return;
    event.preventDefault();
    add();
  });
  typed.addEventListener('change', add);
  show([]);
  const element = field('Tags (Enter adds one)', typed);
  element.append(list);
  return {
    name,
    element,
    /** The tags, one on each line. */
    get value() {
      return all().join('\n');
    },
    set value(text) {
      typed.value = '';
      show(tagsIn(text));
    },
  };
}
