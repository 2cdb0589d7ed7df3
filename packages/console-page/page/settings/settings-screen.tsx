import { useState } from 'react'
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { readingAll } from '../api/reading.ts'
import { usePlace } from '../api/use-project.ts'
import { Screen } from '../frame/screen.tsx'
import { Facts } from '../parts/facts.tsx'
import { Moment } from '../parts/moment.tsx'
import { RefusalBox } from '../parts/refusal-box.tsx'
import { Waiting } from '../parts/waiting.tsx'
import { useMyRoles } from '../people/use-my-roles.ts'
import { DeleteProjectDialog } from './delete-project-dialog.tsx'
import { ProjectTokens } from './project-tokens.tsx'
import { RetentionForm } from './retention-form.tsx'

/** What holds for the project as a whole. */
export function SettingsScreen() {
  const { tenant, project: id } = usePlace()
  const { isAdmin, isOwner } = useMyRoles()
  const projects = useQuery(readingAll('/api/v2/tenants/{tenant}/projects', { params: { tenant } }))
  const teams = useQuery(readingAll('/api/v2/tenants/{tenant}/teams', { params: { tenant } }))
  const [isDeleting, setDeleting] = useState(false)
  const navigate = useNavigate()
  const project = projects.data?.find((each) => each.id === id)
  const team = teams.data?.find((each) => each.id === project?.team)
  return (
    <Screen title="Settings" of={project?.name ?? 'Project'}>
      <RefusalBox error={projects.error} />
      {!projects.data && !projects.error && <Waiting what="settings" />}
      {projects.data && !project && <p className="notice">There is no such project among those that you can see.</p>}
      {project && (
        <>
          <section className="card stack" aria-label="Project">
            <Facts
              of={[
                ['Name', project.name],
                ['Team', team?.name ?? project.team],
                ['Since', <Moment iso={project.createdAt} to="day" />],
                ['Id', <code>{project.id}</code>],
              ]}
            />
          </section>
          <RetentionForm key={project.id} project={project} isOwner={isOwner} />
          {isOwner ? (
            <ProjectTokens />
          ) : (
            <p className="soft">A Project Owner makes tokens for programs of the project, and changes its settings.</p>
          )}
          {isAdmin && (
            <section className="card stack" aria-label="Delete the project">
              <h2>Delete the project</h2>
              <p className="soft">Its keys, flows and tokens end with it, for ever.</p>
              <div className="buttons">
                <button type="button" className="button danger" onClick={() => setDeleting(true)}>
                  Delete the project
                </button>
              </div>
            </section>
          )}
          {isDeleting && (
            <DeleteProjectDialog
              of={project}
              onDone={() => void navigate({ to: '/organizations/$tenant/projects', params: { tenant } })}
              onClose={() => setDeleting(false)}
            />
          )}
        </>
      )}
    </Screen>
  )
}
