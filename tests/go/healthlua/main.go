// Command healthlua runs a health check as Argo CD runs those of argocd-cm: gopher-lua with package, base, table and an
// os that only tells the time; the object is `obj`; one second; the answer is a table with a status that Argo CD knows.
//
//	healthlua SCRIPT.lua <objects.jsonl     prints a line of JSON for each: {"status", "message"} or {"error"}
package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"time"

	lua "github.com/yuin/gopher-lua"
	luajson "layeh.com/gopher-json"
)

type health struct {
	Status  string `json:"status,omitempty"`
	Message string `json:"message,omitempty"`
	Error   string `json:"error,omitempty"`
}

var known = map[string]bool{
	"Unknown": true, "Progressing": true, "Healthy": true, "Suspended": true, "Degraded": true, "Missing": true,
}

// What is left of os: without execute, exit, getenv, remove, rename and the like.
var clock = map[string]lua.LGFunction{
	"time": func(state *lua.LState) int {
		state.Push(lua.LNumber(time.Now().Unix()))
		return 1
	},
	"date": func(state *lua.LState) int {
		state.Push(lua.LString(time.Now().UTC().Format(time.RFC3339)))
		return 1
	},
}

func openClock(state *lua.LState) int {
	state.Push(state.RegisterModule(lua.TabLibName, clock))
	return 1
}

func loadClock(state *lua.LState) int {
	state.Push(state.SetFuncs(state.NewTable(), clock))
	return 1
}

func table(state *lua.LState, value any) lua.LValue {
	switch value := value.(type) {
	case bool:
		return lua.LBool(value)
	case float64:
		return lua.LNumber(value)
	case string:
		return lua.LString(value)
	case []any:
		made := state.CreateTable(len(value), 0)
		for _, each := range value {
			made.Append(table(state, each))
		}
		return made
	case map[string]any:
		made := state.CreateTable(0, len(value))
		for key, each := range value {
			made.RawSetString(key, table(state, each))
		}
		return made
	}
	return lua.LNil
}

func run(script string, object any) (health, error) {
	state := lua.NewState(lua.Options{SkipOpenLibs: true})
	defer state.Close()
	for _, library := range []struct {
		name string
		open lua.LGFunction
	}{
		{lua.LoadLibName, lua.OpenPackage},
		{lua.BaseLibName, lua.OpenBase},
		{lua.TabLibName, lua.OpenTable},
		{lua.OsLibName, openClock},
	} {
		call := lua.P{Fn: state.NewFunction(library.open), NRet: 0, Protect: true}
		if err := state.CallByParam(call, lua.LString(library.name)); err != nil {
			return health{}, err
		}
	}
	state.PreloadModule(lua.OsLibName, loadClock)
	limit, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	state.SetContext(limit)
	state.SetGlobal("actionParams", state.NewTable())
	state.SetGlobal("obj", table(state, object))
	if err := state.DoString(script); err != nil {
		return health{}, err
	}
	answer := state.Get(-1)
	if answer.Type() != lua.LTTable {
		return health{}, fmt.Errorf("expect table output from Lua script, not %s", answer.Type())
	}
	text, err := luajson.Encode(answer)
	if err != nil {
		return health{}, err
	}
	var said health
	if err := json.Unmarshal(text, &said); err != nil {
		return health{}, err
	}
	if !known[said.Status] {
		return health{}, fmt.Errorf("Lua returned an invalid health status: %q", said.Status)
	}
	return said, nil
}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: healthlua SCRIPT.lua <objects.jsonl")
		os.Exit(2)
	}
	script, err := os.ReadFile(os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<24)
	out := json.NewEncoder(os.Stdout)
	for lines.Scan() {
		if len(bytes.TrimSpace(lines.Bytes())) == 0 {
			continue
		}
		var object any
		said, err := health{}, json.Unmarshal(lines.Bytes(), &object)
		if err == nil {
			said, err = run(string(script), object)
		}
		if err != nil {
			said = health{Error: err.Error()}
		}
		if err := out.Encode(said); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(2)
		}
	}
	if err := lines.Err(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
}
