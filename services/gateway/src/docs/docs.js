// Each block of code gets a button that copies it. Without JavaScript everything else is there.
const status = document.getElementById('status')

for (const block of document.querySelectorAll('.block')) {
  const button = document.createElement('button')
  button.type = 'button'
  button.textContent = 'Copy'
  button.addEventListener('click', async () => {
    const isCopied = await navigator.clipboard.writeText(block.querySelector('code').textContent).then(
      () => true,
      () => false,
    )
    button.textContent = isCopied ? 'Copied' : 'Copy'
    status.textContent = isCopied ? 'Copied' : 'It could not be copied: select it and copy it by hand.'
  })
  block.append(button)
}

// The API reference was at /docs, and operations were linked as /docs#/…
if (location.pathname === '/docs' && location.hash.startsWith('#/')) location.replace(`/docs/api${location.hash}`)
