/** Gives code a button that copies it, where the browser lets pages do that. */
export function offerCopy(code: Element): void {
  if (navigator.clipboard === undefined) return;
  const button = document.createElement('button');
  Object.assign(button, { type: 'button', className: 'copy', textContent: 'Copy' });
  button.setAttribute('aria-live', 'polite');
  button.addEventListener('click', async () => {
    const copied = navigator.clipboard.writeText(code.textContent.trim());
    button.textContent = await copied.then(
      () => 'Copied',
      () => 'The browser refused',
    );
    setTimeout(() => {
      button.textContent = 'Copy';
    }, 2000);
  });
  code.after(button);
}
