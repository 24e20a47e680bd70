-- An Application is as healthy as Argo CD says in its status. Argo CD itself has had no such check since 1.8, so without
-- it a wave of Applications does not wait for the one before.
local health = obj.status and obj.status.health
if health == nil or health.status == nil then
  return {status = "Progressing", message = "not compared yet"}
end
return {status = health.status, message = health.message or ""}
