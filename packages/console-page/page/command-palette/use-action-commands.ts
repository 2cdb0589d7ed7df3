import { useNavigate } from '@tanstack/react-router'
import { useScope } from '../api/use-project.ts'
import { useProjectRole } from '../api/use-project-role.ts'
import { useScheme, type Scheme } from '../frame/scheme.ts'
import { useSignOut } from '../frame/use-sign-out.ts'
import type { Command } from './commands.ts'

const schemes: Record<Scheme, string> = {
  light: 'Light theme',
  dark: 'Dark theme',
  system: 'System theme',
}

/** Actions available on every screen to every signed-in user. */
export function useActionCommands({ onCreateFlow }: { onCreateFlow: () => void }): Command[] {
  const scope = useScope()
  const role = useProjectRole()
  const navigate = useNavigate()
  const [scheme, choose] = useScheme()
  const signOut = useSignOut()
  const action = (title: string, run: () => void): Command => ({ id: title, title, kind: 'Action', run })
  const mayMake = role === 'Project Owner' || role === 'Project Consumer'
  const inProject = [
    action(
      'Create key',
      () => void navigate({ to: '/projects/$tenant/$project/keys', params: scope, search: { create: true } }),
    ),
    action('Create flow', onCreateFlow),
  ]
  return [
    ...(mayMake ? inProject : []),
    ...(Object.keys(schemes) as Scheme[])
      .filter((each) => each !== scheme)
      .map((each) => action(schemes[each], () => choose(each))),
    action('API reference', () => void window.open('/docs', '_blank', 'noopener,noreferrer')),
    action('Sign out', () => signOut.mutate()),
  ]
}
