import { copyable, el, say } from './dom.js'
import { curlCommand } from './format.js'
import { modelsOf } from './models.js'

/** A new secret, which is shown this once, and a command that tries it. */
export function secretShown({ page, where, close }, { key, secret }) {
  say('The key is made. Its secret is shown this once.')
  const baseUrl = page.signInMethods.baseUrl ?? location.origin
  const command = el('div', {})
  void modelsOf(where)
    .catch(() => [])
    .then((models) => {
      const callable = models.filter(
        ({ id, kind }) => kind === 'chat' && (key.policy !== 'listed' || key.resources.includes(id)),
      )
      command.replaceChildren(
        copyable(curlCommand(baseUrl, secret, callable[0]?.id), { block: true, label: 'Copy the command' }),
      )
    })
  return [
    el(
      'p',
      { class: 'notice' },
      'Copy the secret now: it is shown this once and kept nowhere. Whoever has it can spend from the project.',
    ),
    copyable(secret, { label: 'Copy the secret' }),
    el('h3', {}, 'Try it'),
    command,
    el('div', { class: 'buttons' }, el('button', { type: 'button', onclick: close }, 'I have copied it')),
  ]
}
