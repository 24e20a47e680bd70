-- What each Gateway that leads to the pool says of it: Accepted, and ResolvedRefs for its picker. A parent of kind Status
-- is a placeholder of no Gateway. Whether the pool has pods stands nowhere.
local hs = {status = "Progressing", message = "no Gateway leads to it yet"}
if obj.status == nil or obj.status.parents == nil then
  return hs
end

local function fresh(condition)
  local observed, generation = condition.observedGeneration, obj.metadata.generation
  return observed == nil or generation == nil or observed == generation
end

local waiting, accepted = nil, 0
for _, parent in ipairs(obj.status.parents) do
  local ref = parent.parentRef or {}
  if ref.kind ~= "Status" then
    local name, taken = ref.name or "?", false
    for _, condition in ipairs(parent.conditions or {}) do
      if fresh(condition) and (condition.type == "Accepted" or condition.type == "ResolvedRefs") then
        if condition.status == "False" then
          return {status = "Degraded", message = "Gateway " .. name .. ": " .. (condition.message or condition.type)}
        elseif condition.type == "Accepted" and condition.status == "True" then
          taken = true
        end
      end
    end
    if taken then
      accepted = accepted + 1
    elseif waiting == nil then
      waiting = name
    end
  end
end

if waiting ~= nil then
  hs.message = "Gateway " .. waiting .. " has not accepted it yet"
elseif accepted > 0 then
  hs.status, hs.message = "Healthy", "accepted by " .. accepted .. (accepted == 1 and " Gateway" or " Gateways")
end
return hs
