import { CommandFailure } from '../frame/command-failure.ts'

/** The address of a service from user input, which may also be the address of its models or its console. */
export function addressOf(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null
  if (url === null || !/^https?:$/.test(url.protocol) || url.username !== '' || url.password !== '')
    throw new CommandFailure(
      `${JSON.stringify(text.replace(/\/\/.*@/, '//…@'))} is not a gateway address.`,
      'Write it like https://gateway.example',
      'usage',
    )
  return (url.origin + url.pathname).replace(/\/+$/, '').replace(/\/(v1|console)$/, '')
}
